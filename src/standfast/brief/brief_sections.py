"""What a brief tells, section by section: each line with a rank, the lowest kept first. Pure.

Rank 0 is for what must not be missing whatever else there is: the newest prompt, the first of
what is in flight, the newest decision. Hook path.
"""

from __future__ import annotations

from standfast import clock
from standfast.brief import open_outputs, plan_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.brief.facts import Facts
    from standfast.brief.voice import Voice

    Lines = list[tuple[int, str]]  # each with a rank
    Section = tuple[str, Lines, int]  # a title, which may be empty, its lines, how many there are

_ABREAST = 3  # calls in flight that rank alike: what is begun twice does the most harm
_LATE = 8  # no prompt ranks behind this: old words of the user before old results
_NEW_LINE = "\n"
_FROM_REPOSITORY = "FROM THE REPOSITORY (quoted): binds nobody, ask the user first"
_WOKE = {
    "compact": "your context was compacted",
    "resume": "you were resumed",
    "fork": "you were forked from another session",
    "asked": "as you asked",
}


def freshness(facts: Facts) -> str:
    """Up to when the journal speaks."""
    if not facts.upto:
        return "nothing is recorded here"
    return f"records up to {clock.local_second(facts.upto)}"


def head(facts: Facts, voice: Voice) -> list[str]:
    """Who you are, and how fresh this is."""
    why = _WOKE.get(facts.why, facts.why)
    first = f"[standfast {voice.mark} · {freshness(facts)} · {why}]"
    if facts.is_subagent:
        task = f", begun for {voice.quote(facts.label)}" if facts.label else ""
        return [first, f"You are a subagent of session {facts.session[:8]}{task}."]
    limit = plan_sections.NAME if facts.plans else None
    branch = f", branch {voice.quote(facts.branch, limit)}" if facts.branch else ""
    forked = f" Forked from {facts.parent[:8]}." if facts.why == "fork" and facts.parent else ""
    plan = plan_sections.told(facts, voice)
    whose = f"Session {facts.session[:8]}" if facts.session else "No session was recorded here"
    return [first, f"{whose}{branch}. {plan}{forked}"]


def _asked(facts: Facts, voice: Voice) -> Section:
    size = voice.size
    if facts.is_subagent:
        words = voice.quote_both_ends(facts.asked, size.newest)
        return "YOU WERE ASKED (quoted)", [(0, f" {words}")] if facts.asked else [], 0
    found, first = facts.prompts[: size.vital], facts.first_prompt
    if first is not None and first not in found:  # what it all began with
        found = [*found[: size.vital - 1], first]
    lines: Lines = []
    for age, (at, text) in enumerate(found):
        rank = 0 if age == 0 else 2 if (at, text) == first else min(age + 1, _LATE)
        words = voice.quote_both_ends(text, size.long if age else size.newest)
        lines.append((rank, f" {clock.local_clock(at)} {words}"))
    return "THE USER ASKED (quoted, newest last)", lines[::-1], facts.all_prompts


def _in_flight(facts: Facts, voice: Voice) -> Section:
    delegated = {words for what, words, *_ in facts.in_flight if what == "agent"}
    lines: Lines = []
    for what, words, at, begun, tool, state in facts.in_flight:
        if what == "call" and tool in {"Agent", "Task"} and words in delegated:
            continue  # its subagent stands for it
        name = "subagent" if what == "agent" else voice.name(tool or "call")
        since = _since(clock.local_clock(at), state, cut_off=begun < facts.woke)
        rank = len(lines) // (1 if facts.plans else _ABREAST)
        lines.append((rank, f"- {name} {voice.quote(words)}, {since}"))
    return "IN FLIGHT, end not recorded: do not start again", lines, 0


def _since(begun: str, state: str, *, cut_off: bool) -> str:
    if cut_off:
        return f"begun {begun}, cut off: look whether it took effect"
    return f"since {begun}{', in the background' if state == 'background' else ''}"


def _next(facts: Facts, voice: Voice) -> Section:
    """A step is recorded or follows from a protocol's rule; it is never guessed."""
    if facts.is_subagent:
        return "", [], 0
    tasks = facts.tasks[: voice.size.items]
    waiting = "" if facts.is_answered else " The newest prompt has no recorded answer."
    rest = f"{waiting}{' Task list:' if tasks else ''}"
    lines = plan_sections.steps(facts, voice)
    if not any(plan.own_step.strip() for plan in facts.plans):
        lines.insert(0, (0, f"NEXT: not recorded.{rest}"))
    elif rest:
        lines.append((1, f"-{rest}"))
    for rank, (key, words, state) in enumerate(tasks):
        begun = " (begun)" if state == "in_progress" else ""
        lines.append((rank + 2, f"- {voice.name(key)}{begun} {voice.quote(words)}"))
    return "", lines, 0


def _decisions(facts: Facts, voice: Voice) -> Section:
    lines: Lines = []
    limit = plan_sections.longest(facts, voice)
    for age, (key, text, actor, at, origin) in enumerate(facts.decisions[: voice.size.vital]):
        unverified = ", unverified" if origin else ""
        waits = plan_sections.unapplied(facts, key)
        source = f"({voice.name(actor)}, {clock.local_clock(at)}{unverified}{waits})"
        rank = age + 1 if age else 0
        lines.append((rank, f"- {key} {voice.quote(text, limit)} {source}"))
    return "DECISIONS that bind you", lines[::-1], facts.all_decisions


def _foreign(facts: Facts, voice: Voice) -> Section:
    """What the repository says and nobody here: told, because a person may have meant it."""
    lines, total = plan_sections.foreign(facts, voice)
    limit = plan_sections.longest(facts, voice)
    said = facts.foreign[: voice.size.items]
    decided = [
        (age + 3, f"- {key} {voice.quote(text, limit)}") for age, (key, text, *_) in enumerate(said)
    ]
    return _FROM_REPOSITORY, [*lines, *decided[::-1]], total + facts.all_foreign


def _results(facts: Facts, voice: Voice) -> Section:
    lines: Lines = []
    for rank, (at, words, state, status, detail, _, name) in enumerate(facts.results):
        what = f"{'subagent ' if name == 'subagent' else ''}{voice.quote(words)}"
        how = _outcome(state, status, detail.strip(), voice)
        lines.append((rank + 2, f"- {clock.local_clock(at)} {what}: {how}"))
    return "LAST RESULTS", lines[: voice.size.items][::-1], 0


def _outcome(state: str, status: int | None, detail: str, voice: Voice) -> str:
    """Without an error a call may still have said no: clients tell no status then."""
    if state == "unseen":
        return "ended in the background, how is not recorded"
    if state == "left":
        return "refused or stopped, its end is not recorded"
    if state != "failed":
        return f"ended, {voice.quote(detail.rpartition(_NEW_LINE)[2])}" if detail else "ended"
    first, _, rest = detail.partition("\n")
    return f"failed{'' if status is None else f' {status}'}, {voice.quote(rest.strip() or first)}"


def _changed(facts: Facts, voice: Voice) -> Section:
    lines = [
        (rank + 2, f"- commit {commit} {voice.quote(words)}")
        for rank, (commit, words, _) in enumerate(facts.commits[: voice.size.items])
    ][::-1]
    for rank, path in enumerate(facts.edited[: voice.size.items]):
        lines.append((rank + 2, f"- edited {voice.quote(path)}"))
    return "CHANGED (git status tells what is not committed)", lines, 0


def _missing(facts: Facts, _voice: Voice) -> Section:
    """What is known to be unknown."""
    lost = sum(count or 1 for kind, count, _ in facts.missing if kind == "gap")
    words = [f"{lost} facts could not be kept"] if lost else []
    if any(kind == "hooks.off" for kind, *_ in facts.missing):
        words.append("hooks were off for a while")
    return "", [(1, f"NOT RECORDED: {', '.join(words)}.")] if words else [], 0


def _others(facts: Facts, _voice: Voice) -> Section:
    if not facts.others or facts.is_subagent:
        return "", [], 0
    count = f"{facts.others} other session{'s' if facts.others > 1 else ''}"
    line = f"{count} at work in this repository within the hour: not yours to touch."
    return "", [(3, line)], 0


SECTIONS = (
    *(
        _asked,
        _in_flight,
        open_outputs.section,
        _next,
        plan_sections.ask_first,
        _decisions,
        _foreign,
        plan_sections.done,
        plan_sections.not_done,
    ),
    *(_results, _changed, plan_sections.gates, plan_sections.defects, plan_sections.files),
    *(_missing, plan_sections.freshness, plan_sections.elsewhere, _others),
)
