"""What becomes of a section that was found in a file: the rule alone, value by value."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumption_samples import lived
from standfast.protocols.resumption.rules import arrivals
from standfast.protocols.resumption.rules.arrivals import Base, Past, base_of, digests
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.staleness import seconds

pytestmark = pytest.mark.req("RES-24")

EARLY, BASE_AT, LATE, FUTURE = (
    *("2026-02-20T09:00:00Z", "2026-02-20T10:00:00Z"),
    *("2026-02-20T11:00:00Z", "2026-03-20T10:00:00Z"),
)
NOW = seconds("2026-02-20T12:00:00Z") or 0
Change = Callable[[Any], object]


def section(*changes: Change, at: str = BASE_AT) -> dict[str, Any]:
    found = copy.deepcopy(lived().section)
    found["recovery_state"]["updated_at"] = at
    for change in changes:
        change(found)
    return found


def step(words: str) -> Change:
    return lambda found: found["recovery_state"].update(next_step=words)


def decided(words: str, number: str = "RD-002") -> Change:
    entry = {"id": number, "decision": words, "rationale": "why"}
    return lambda found: found["decision_log"].append(dict(entry))


def read(*files: str) -> Change:
    return lambda found: found.update(files_to_read=[*files])


def says(agent: str, line: str) -> Change:
    return lambda found: found["agent_summaries"].update({agent: line})


def scored(total: int) -> Change:
    return lambda found: found["quality_trajectory"].update(total_iterations_used=total)


def past(theirs: dict[str, Any], *ours: dict[str, Any], came: tuple[str, ...] = ()) -> Past:
    """What a journal that had these states remembers of a file that says this."""
    found = digests(theirs)
    held = {unit for each in ours for unit in found if digests(each)[unit] == found[unit]}
    at = theirs["recovery_state"]["updated_at"]
    bases: list[Base] = [
        base_of(each) for each in ours if each["recovery_state"]["updated_at"] == at
    ]
    return Past(frozenset(held), frozenset(came), bases[0] if bases else None)


def judged(ours: dict[str, Any], theirs: dict[str, Any], *had: dict[str, Any], **more: Any) -> Any:
    return arrivals.judge(ours, theirs, past(theirs, *had, ours, **more), NOW)


def why(arrival: Any) -> dict[str, str]:
    return {".".join(each.path): each.why for each in arrival.kept}


def test_value_that_we_once_had_is_an_old_copy() -> None:
    before, now = section(step("a")), section(step("b"), read("x.md"), at=LATE)
    found = judged(now, before, before)

    assert found.section == now
    assert set(found.old) == {"recovery_state", "files_to_read"}
    assert found.is_old


def test_edit_of_a_state_that_is_still_ours_is_taken() -> None:
    before = section(step("a"))
    found = judged(before, section(step("by hand"), read("x.md")), before)

    assert found.section["recovery_state"]["next_step"] == "by hand"
    assert found.section["files_to_read"] == ["x.md"]
    assert found.is_edit
    assert not found.kept
    assert set(found.taken) == {("recovery_state", "next_step"), ("files_to_read",)}


def test_edit_of_an_older_state_is_taken_as_far_as_ours_is_as_it_was_then() -> None:
    before = section(step("a"))
    now = section(step("a"), lambda s: s["recovery_state"].update(current_phase=2), at=LATE)
    theirs = section(step("by hand"), lambda s: s["recovery_state"].update(current_phase=7))
    found = judged(now, theirs, before)

    assert found.section["recovery_state"]["next_step"] == "by hand"
    assert found.section["recovery_state"]["current_phase"] == 2
    assert list(why(found)) == ["recovery_state.current_phase"]


@pytest.mark.parametrize(("at", "wins"), [(LATE, True), (EARLY, False)])
def test_of_two_strangers_the_newer_wins_and_the_other_is_kept(at: str, *, wins: bool) -> None:
    ours, theirs = section(step("ours"), read("o.md")), section(step("theirs"), read("t.md"), at=at)
    found = judged(ours, theirs)
    winner, loser = (theirs, ours) if wins else (ours, theirs)

    assert found.section["recovery_state"]["next_step"] == winner["recovery_state"]["next_step"]
    assert found.section["files_to_read"] == winner["files_to_read"]
    kept = {each.path: each.value for each in found.kept}
    assert kept["recovery_state",]["next_step"] == loser["recovery_state"]["next_step"]
    assert kept["files_to_read",] == loser["files_to_read"]
    assert not found.is_edit


def test_newer_section_takes_nothing_back_that_it_has_not_seen() -> None:
    before = section()
    ours = section(scored(2), read("o.md"))
    found = judged(ours, section(step("theirs"), at=LATE), before)

    assert found.section["recovery_state"]["next_step"] == "theirs"
    assert found.section["quality_trajectory"] == ours["quality_trajectory"]
    assert found.section["files_to_read"] == ["o.md"]
    assert set(found.old) == {"quality_trajectory", "files_to_read"}


def test_newer_section_may_take_back_what_a_file_brought() -> None:
    before, ours = section(read("a.md")), section(read("b.md"))
    found = judged(ours, section(read("a.md"), at=LATE), before, came=("files_to_read",))

    assert found.section["files_to_read"] == ["a.md"]


def test_time_that_lies_ahead_is_not_believed_and_its_words_are_kept() -> None:
    ours = section(step("ours"))
    found = judged(ours, section(step("theirs"), decided("new"), at=FUTURE))

    assert found.section["recovery_state"] == ours["recovery_state"]
    assert "lies ahead" in why(found)["recovery_state"]
    assert found.section["decision_log"][-1]["decision"] == "new", "a log has room for both"


def test_time_of_ours_that_lies_ahead_wins_over_nobody() -> None:
    found = judged(section(step("ours"), at=FUTURE), section(step("theirs"), at=EARLY))

    assert found.section["recovery_state"]["next_step"] == "theirs"


@pytest.mark.parametrize(
    ("last", "stamped"),
    [(EARLY, NOW), ("2026-02-20T12:00:07Z", NOW + 8), (FUTURE, NOW), ("x", NOW)],
)
def test_stamp_is_after_the_last_one_that_can_be_believed(last: str, stamped: int) -> None:
    assert arrivals.stamp(NOW, last) == stamped


# Logs.


def test_both_decisions_of_one_number_stay_the_newer_lists_first() -> None:
    ours, theirs = section(decided("ours")), section(decided("theirs"), at=LATE)
    log = judged(ours, theirs).section["decision_log"]

    assert [(e["id"], e["decision"], e.get("was")) for e in log] == [
        ("RD-001", "keep SPDX", None),
        ("RD-002", "theirs", None),
        ("RD-003", "ours", "RD-002"),
    ]
    assert validate(judged(ours, theirs).section) == []


def test_both_clones_compute_the_same_logs() -> None:
    ours = section(decided("ours"), says("x", "DONE. Ours."))
    theirs = section(decided("theirs"), says("x", "FAIL. Theirs."), at=LATE)
    here, there = judged(ours, theirs).section, judged(theirs, ours).section

    assert here == there
    assert here["agent_summaries"]["x"] == "FAIL. Theirs."
    assert here["agent_summaries"]["x-retry"] == "DONE. Ours."


def test_decision_that_is_missing_was_not_taken_back() -> None:
    ours = section(decided("ours"))
    theirs = section(lambda s: s["decision_log"].clear(), at=LATE)

    assert [e["decision"] for e in judged(ours, theirs).section["decision_log"]] == [
        *("keep SPDX", "ours"),
    ]


def test_applied_on_one_side_is_applied() -> None:
    theirs = section(lambda s: s["decision_log"][0].update(applied=True), at=EARLY)

    assert judged(section(), theirs).section["decision_log"][0]["applied"] is True


def test_past_decision_that_a_hand_rewrites_is_kept_and_named() -> None:
    before = section()
    theirs = section(lambda s: s["decision_log"][0].update(decision="drop SPDX"))
    found = judged(before, theirs, before)

    assert found.section == before
    assert "changes RD-001" in why(found)["decision_log.RD-001"]


def test_journals_own_place_of_each_decision_is_known() -> None:
    ours, theirs = section(decided("ours")), section(decided("theirs"), at=LATE)
    logs = judged(ours, theirs).logs

    assert logs.places == (0, None, 1)
    assert logs.renamed == (("RD-002", "RD-003"),)


# Properties.

TIMES = st.sampled_from([EARLY, BASE_AT, LATE])
CHANGES = st.lists(
    st.one_of(
        st.sampled_from(["a", "b", "c"]).map(step),
        st.sampled_from(["p", "q"]).map(lambda words: read(f"{words}.md")),
        st.sampled_from(["x", "y"]).map(lambda words: says(words, f"DONE. {words}.")),
        st.sampled_from(["one", "two"]).map(decided),
        st.integers(1, 4).map(scored),
    ),
    max_size=4,
)


def made(changes: list[Change], at: str) -> dict[str, Any]:
    found = section(*changes, at=at)
    for place, entry in enumerate(found["decision_log"], 1):
        entry["id"] = f"RD-{place:03d}"
    return found


@given(ours=CHANGES, theirs=CHANGES, at=TIMES, theirs_at=TIMES)
def test_nothing_that_either_said_is_lost(
    ours: list[Change], theirs: list[Change], at: str, theirs_at: str
) -> None:
    mine, other = made(ours, at), made(theirs, theirs_at)
    found = judged(mine, other)
    everything = repr((found.section, found.kept))

    assert validate(found.section) == []
    for each in (mine, other):
        for entry in each["decision_log"]:
            assert entry["decision"] in everything
        for line in each["agent_summaries"].values():
            assert line in everything
    assert repr(other["files_to_read"]) in everything  # ours are in the journal
    assert repr(other["recovery_state"]["next_step"]) in everything


@given(ours=CHANGES, theirs=CHANGES)
def test_strangers_decide_the_same_and_then_nothing_more(
    ours: list[Change], theirs: list[Change]
) -> None:
    mine, other = made(ours, EARLY), made(theirs, LATE)
    here, there = judged(mine, other).section, judged(other, mine).section

    assert here == there
    again = arrivals.judge(here, there, past(there, mine, other, here), NOW)
    assert again.section == here
    assert (again.taken, again.kept) == ((), ())
