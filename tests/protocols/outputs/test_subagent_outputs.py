"""A subagent that stops has its outputs looked at, and is held once; nobody is held by mistake."""

import fcntl
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from attacks import call, done
from claude_calls import Claude, context
from hook_calls import Hooks, put_launcher
from standfast.brief.facts import gather
from standfast.clients.claude import subagent_outputs as hooked
from standfast.clients.hooks import deadline, hook_call
from standfast.journal.author import Author
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import whole_output

AGENT = "a646903702f5c930d"
KIND = "general-purpose"
LONG = "Read every file of the payment service and say which of them are racy. " * 60
GOOD = f"Two races, both in refunds.\n{whole_output.SENTINEL}\n".encode()


class Crew:
    """A session that asks for one subagent, and what becomes of it."""

    def __init__(self, repo: Path, folder: Path) -> None:
        self.claude = Claude(repo)
        self.file = repo / "findings" / "review-races.md"
        self.file.parent.mkdir()
        self.transcript = folder / "agent.jsonl"
        self.claude("SessionStart", source="startup")

    @property
    def prompt(self) -> str:
        return f"{LONG}\n{whole_output.paragraph(str(self.file))}\n{LONG}"

    def begin(self, prompt: str | None = None, agent: str = AGENT, kind: str = KIND) -> str:
        asked = self.prompt if prompt is None else prompt
        use = self.claude.begins("Agent", prompt=asked, description="review", subagent_type=kind)
        self.claude("SubagentStart", agent_id=agent, agent_type=kind)
        said = {"type": "user", "isSidechain": True, "message": {"role": "user", "content": asked}}
        self.transcript.write_text(json.dumps(said) + '\n{"type":"assistant"}\n', encoding="utf-8")
        return use

    def stop(self, **fields: Any) -> str:
        """Stop; what the client is told, without the common fields."""
        usual = {"agent_id": AGENT, "agent_type": KIND, "stop_hook_active": False}
        path = {"agent_transcript_path": str(self.transcript)}
        return self.claude("SubagentStop", **{**usual, **path, **fields})

    def held(self, **fields: Any) -> str:
        """Stop, and be held; the reason."""
        said = json.loads(self.stop(**fields))
        assert said.keys() == {"decision", "reason"}
        assert said["decision"] == "block"
        return str(said["reason"])

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        journal = self.claude.journal
        sql = "SELECT payload FROM events WHERE kind = ? ORDER BY seq"
        try:
            return [json.loads(row[0]) for row in journal.query(sql, (kind,))]
        finally:
            journal.close()

    def state(self) -> str:
        journal = self.claude.journal
        try:
            ((state,),) = journal.query("SELECT state FROM work WHERE what = 'agent'")
            return str(state)
        finally:
            journal.close()


@pytest.fixture
def crew(repo: Path, tmp_path: Path) -> Crew:
    return Crew(repo, tmp_path)


# Launches.


@pytest.mark.req("OUT-06", "OUT-13")
def test_each_launch_is_counted_with_the_call_that_makes_it(crew: Crew) -> None:
    first = crew.begin()
    second = crew.begin(agent="another")

    assert crew.of("output.launched") == [
        {"path": str(crew.file), "by": "claude", "call": use} for use in (first, second)
    ]
    assert str(crew.file) not in crew.of("tool.started")[0]["prompt"]  # it was cut
    ((began, counted),) = crew.claude.journal.query(
        "SELECT a.seq, b.seq FROM events AS a JOIN events AS b ON b.at = a.at"
        " WHERE a.kind = 'tool.started' AND b.kind = 'output.launched' ORDER BY a.seq LIMIT 1"
    )
    assert counted == began + 1


def test_every_path_is_counted_once_and_hooks_that_are_installed_twice_do_not_count_twice(
    crew: Crew, repo: Path
) -> None:
    paths = [str(repo / name) for name in ("a.md", "b.md")]
    prompt = "\n".join(whole_output.paragraph(path) for path in (*paths, *paths))
    call = {"tool_name": "Task", "tool_input": {"prompt": prompt}, "tool_use_id": "toolu_1"}
    crew.claude("PreToolUse", **call)
    crew.claude("PreToolUse", **call)

    assert [each["path"] for each in crew.of("output.launched")] == paths


@pytest.mark.parametrize(
    ("tool", "prompt"),
    [
        ("Agent", "Write it to /tmp/findings.md"),
        ("Agent", f"End with {whole_output.SENTINEL}"),
        ("Agent", 7),
        ("Bash", whole_output.paragraph("/tmp/findings.md")),
    ],
)
def test_what_declares_nothing_launches_nothing(crew: Crew, tool: str, prompt: object) -> None:
    given = {"prompt": prompt, "command": prompt}
    crew.claude("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="toolu_1")

    assert crew.of("output.launched") == []
    assert len(crew.of("tool.started")) == 1


@pytest.mark.req("OUT-06", "OUT-23")
def test_files_elsewhere_and_folders_that_take_no_file_cost_no_launch(
    crew: Crew, repo: Path, tmp_path: Path
) -> None:
    (repo / "full").write_text("a file in the way\n", encoding="utf-8")
    for use, path in enumerate((f"{tmp_path}/x.md", f"{repo}/full/x.md", "/proc/1/x.md")):
        given = {"prompt": whole_output.paragraph(path)}
        crew.claude("PreToolUse", tool_name="Agent", tool_input=given, tool_use_id=f"toolu_{use}")

    assert crew.of("output.launched") == []
    assert len(crew.of("tool.started")) == 3


@pytest.mark.req("OUT-06", "OUT-23")
def test_readers_of_an_output_spend_none_of_its_launches(crew: Crew) -> None:
    crew.file.write_bytes(b"Two races, and the")
    for use in range(3):
        sentinel = whole_output.SENTINEL
        given = {"prompt": f"Output: {crew.file}\nFind out why it does not end in {sentinel}."}
        told = crew.claude(
            "PreToolUse", tool_name="Agent", tool_input=given, tool_use_id=f"toolu_{use}"
        )
        assert told == ""

    assert crew.of("output.launched") == []


def test_prompt_with_more_files_than_anybody_wants_is_bounded(crew: Crew, repo: Path) -> None:
    names = [f"{repo}/no/{'x' * 200}{number}.md" for number in range(1000)]
    crew.begin("".join(whole_output.paragraph(name) for name in names))

    assert len(crew.of("output.launched")) == hooked.MOST
    reason = crew.held()
    assert len(reason) < 10_000
    assert f"{hooked.MOST - reason.count('does not exist')} more of your files" in reason
    assert len(crew.of("output.checked")) == hooked.MOST


def test_mark_that_is_looked_for_first_is_in_the_sentinel() -> None:
    assert whole_output.SENTINEL.startswith(hook_call._MARK)


# Launched too often.


def third(crew: Crew, **fields: Any) -> str:
    """The third call for one output; what the lead is told before it."""
    for number in (1, 2):
        crew.claude.ends(crew.begin(agent=f"a{number}"), "Agent", prompt=crew.prompt)
    given = {"prompt": crew.prompt, "subagent_type": KIND}
    return crew.claude(
        "PreToolUse", tool_name="Agent", tool_input=given, tool_use_id="t3", **fields
    )


@pytest.mark.req("OUT-06", "OUT-23")
def test_third_launch_of_an_output_is_told_to_the_lead(crew: Crew) -> None:
    crew.file.write_bytes(b"Two races, and the")
    said = context(third(crew))

    assert f"{crew.file} does not end in the closing line, and this is its launch 3" in said
    assert "standfast outputs grant" in said
    assert len(crew.of("output.launched")) == 3  # it is told, not kept from it
    assert "this is its launch 4" in crew.claude(
        "PreToolUse",
        tool_name="Task",
        tool_input={"prompt": crew.prompt},
        tool_use_id="t4",
    )


@pytest.mark.req("OUT-04", "OUT-23")
def test_third_launch_of_a_complete_output_is_told_that_it_is_there(crew: Crew) -> None:
    crew.file.write_bytes(GOOD)

    assert f"{crew.file} is complete" in context(third(crew))


@pytest.mark.req("OUT-06", "OUT-23")
def test_launches_that_a_person_granted_are_not_too_many(crew: Crew) -> None:
    journal = crew.claude.journal
    with journal.writing() as tx:
        recorded.grant(tx, str(crew.file), "the disk was full", Author("user"))
    journal.close()

    assert third(crew) == ""


@pytest.mark.req("OUT-23")
def test_launches_of_another_output_and_hooks_that_tell_twice_are_not_counted(crew: Crew) -> None:
    crew.begin(whole_output.paragraph(f"{crew.file.parent}/other.md"))
    for use in ("t1", "t1", "t1", "t2", "t2"):
        given = {"prompt": crew.prompt}
        told = crew.claude("PreToolUse", tool_name="Agent", tool_input=given, tool_use_id=use)
        assert told == ""


@pytest.mark.req("OUT-23")
def test_older_client_is_told_when_the_call_comes_back(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context(third(crew))
    monkeypatch.setattr(crew.claude, "tells_agents", False)

    told = crew.claude.ends("t3", "Agent", prompt=crew.prompt)

    assert "this is its launch 3" in context(told)


# Held once.


@pytest.mark.req("OUT-13", "OUT-14", "OUT-17")
@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, whole_output.MISSING),
        (b" \n", whole_output.EMPTY),
        (b"Two races", whole_output.NO_SENTINEL),
        (whole_output.SENTINEL.encode(), whole_output.SENTINEL_ONLY),
    ],
)
def test_subagent_without_its_output_is_held_once_and_told_what_to_do(
    crew: Crew, data: bytes | None, fault: str
) -> None:
    crew.begin()
    if data is not None:
        crew.file.write_bytes(data)

    reason = crew.held()

    assert reason == whole_output.remedy(str(crew.file), fault)
    assert crew.of("output.held") == [{"path": str(crew.file), "fault": fault, "agent": AGENT}]
    assert crew.of("agent.ended") == []  # it goes on
    assert crew.state() == "open"

    crew.file.write_bytes(GOOD)
    assert crew.stop(stop_hook_active=True, last_assistant_message="Written.") == ""
    before, after = crew.of("output.checked")
    assert before["fault"] == fault
    assert after == {
        "path": str(crew.file),
        "fault": "",
        "agent": AGENT,
        "digest": sha256(GOOD).hexdigest(),
        "size": len(GOOD),
    }
    assert crew.of("agent.ended")[0]["text"] == "Written."
    assert crew.state() == "done"


@pytest.mark.parametrize("told", [{"stop_hook_active": True}, {}])
def test_stubborn_subagent_is_let_go(crew: Crew, told: Mapping[str, Any]) -> None:
    """Also where the client does not say that it was held before."""
    crew.begin()
    crew.held()

    for _ in range(3):
        assert crew.stop(**told) == ""

    assert len(crew.of("output.held")) == 1
    assert [each["fault"] for each in crew.of("output.checked")] == [whole_output.MISSING] * 4
    assert len(crew.of("agent.ended")) == 3


def test_subagent_that_another_hook_has_held_is_not_held_again(crew: Crew) -> None:
    crew.begin()

    assert crew.stop(stop_hook_active=True) == ""
    assert crew.of("output.checked")[0]["fault"] == whole_output.MISSING


def test_each_subagent_is_held_for_itself(crew: Crew) -> None:
    crew.begin()
    crew.begin(agent="another")

    crew.held()
    crew.held(agent_id="another")
    assert crew.stop() == crew.stop(agent_id="another") == ""


def test_good_subagent_is_not_held(crew: Crew) -> None:
    crew.begin()
    crew.file.write_bytes(GOOD)

    assert crew.stop() == ""
    assert crew.of("output.held") == []
    assert crew.state() == "silent"
    assert [e["fault"] for e in crew.of("output.checked")] == [""]


def test_every_invalid_file_is_named_and_the_valid_one_is_not(crew: Crew, repo: Path) -> None:
    paths = [repo / name for name in ("a.md", "b.md", "c.md")]
    paths[1].write_bytes(GOOD)
    crew.begin("\n".join(whole_output.paragraph(str(path)) for path in paths))

    reason = crew.held()

    assert f"{paths[0]} does not exist" in reason
    assert f"{paths[2]} does not exist" in reason
    assert str(paths[1]) not in reason
    assert [each["path"] for each in crew.of("output.held")] == [str(paths[0]), str(paths[2])]


def test_secret_in_a_path_is_told_to_the_subagent_and_kept_nowhere(crew: Crew, repo: Path) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    path = repo / f"{secret}.md"
    crew.begin(whole_output.paragraph(str(path)))

    assert secret in crew.held()
    kept = [crew.of(f"output.{kind}") for kind in ("launched", "checked", "held")]
    assert all(len(each) == 1 for each in kept)
    assert secret not in json.dumps(kept)
    crew.transcript.unlink()
    assert crew.stop() == ""
    assert len(crew.of("output.checked")) == 1  # what is left of the path leads nowhere


# What stands in a file's place.


def link(path: Path) -> None:
    path.with_name("other.md").write_bytes(GOOD)
    path.symlink_to("other.md")


def large(path: Path) -> None:
    path.write_bytes(GOOD)
    os.truncate(path, whole_output.LIMIT + 1)


@pytest.mark.parametrize(
    ("put", "fault"),
    [
        (Path.mkdir, whole_output.NOT_A_FILE),
        (os.mkfifo, whole_output.NOT_A_FILE),
        (link, whole_output.NOT_A_FILE),
        (large, whole_output.TOO_LARGE),
    ],
)
def test_what_is_no_file_is_neither_read_nor_waited_for(crew: Crew, put: Any, fault: str) -> None:
    crew.begin()
    put(crew.file)

    assert crew.held() == whole_output.remedy(str(crew.file), fault)
    assert crew.stop() == ""
    checked = crew.of("output.checked")[0]
    assert (checked["path"], checked["fault"]) == (str(crew.file), fault)


def test_nobody_is_held_for_what_cannot_be_told(crew: Crew) -> None:
    crew.begin(whole_output.paragraph(f"/{'x' * 5000}.md"))

    assert crew.stop() == ""
    assert crew.of("output.checked") == []


# Which subagent, and what it was told.


def test_subagent_of_a_compaction_is_never_held(crew: Crew) -> None:
    crew.begin()

    assert crew.stop(agent_type="", agent_id="acompact-1") == ""
    assert crew.stop(agent_type="", agent_id=AGENT) == ""
    assert crew.stop(agent_type=None, agent_id="acompact-2") == ""
    assert crew.of("output.checked") == crew.of("output.held") == []


def test_older_client_that_tells_no_type_holds_the_subagent_that_began(crew: Crew) -> None:
    crew.begin()

    assert crew.held(agent_type=None)


def test_prompt_in_parts_is_read_too(crew: Crew) -> None:
    crew.begin()
    parts = [{"type": "text", "text": "Do it."}, {"type": "text", "text": crew.prompt}]
    lines: list[object] = [{"type": "system"}, {"type": "user", "message": {"content": parts}}]
    crew.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    assert crew.held()


@pytest.mark.parametrize("data", [None, b"", b"{", b'{"type":"user"', b'"user"\n', b'["user"]'])
def test_without_a_transcript_the_call_that_asked_for_it_tells(
    crew: Crew, data: bytes | None
) -> None:
    crew.begin()
    crew.transcript.unlink() if data is None else crew.transcript.write_bytes(data)

    assert crew.held() == whole_output.remedy(str(crew.file), whole_output.MISSING)


def test_nobody_is_held_for_what_another_may_have_been_told(crew: Crew) -> None:
    """Which of two calls began it cannot be said."""
    crew.claude.begins("Agent", prompt=crew.prompt, subagent_type=KIND)
    crew.claude.begins("Agent", prompt="Something else.", subagent_type=KIND)
    crew.claude("SubagentStart", agent_id=AGENT, agent_type=KIND)

    assert crew.stop() == ""
    assert crew.of("output.checked") == []


def test_only_the_first_words_count(crew: Crew) -> None:
    crew.begin("Do something.")
    later = {"type": "user", "message": {"content": crew.prompt}}
    with crew.transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(later) + "\n")

    assert crew.stop() == ""
    assert crew.of("output.checked") == []


# A hold that cannot be.


def test_nobody_is_held_where_the_journal_cannot_be_written(crew: Crew) -> None:
    crew.begin()
    journal = crew.claude.journal
    with open(os.path.join(journal.folder, "writer.lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert crew.stop() == ""

    done(call("-C", str(crew.claude.root), "status"))
    assert crew.of("output.held") == []
    assert [each["fault"] for each in crew.of("output.checked")] == [whole_output.MISSING]
    assert crew.state() == "silent"


def test_launch_is_counted_also_where_the_journal_cannot_be_written(crew: Crew) -> None:
    with open(os.path.join(crew.claude.journal.folder, "writer.lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        crew.begin()

    done(call("-C", str(crew.claude.root), "status"))
    assert [each["path"] for each in crew.of("output.launched")] == [str(crew.file)]


def test_hold_that_came_too_late_is_no_hold(crew: Crew) -> None:
    crew.begin()
    fields = {"agent_id": AGENT, "agent_type": KIND, "agent_transcript_path": str(crew.transcript)}

    crew.claude.misses("SubagentStop", **fields, last_assistant_message="Done.")

    assert len(crew.of("output.held")) == 1
    assert crew.of("agent.ended")[0]["text"] == "Done."
    assert crew.state() == "done"


def test_nobody_is_held_while_hooks_are_off(crew: Crew) -> None:
    crew.begin()
    done(call("-C", str(crew.claude.root), "off"))

    assert crew.stop() == ""
    assert crew.of("output.checked") == []


def test_brief_still_tells_of_a_subagent_that_is_held(crew: Crew) -> None:
    crew.claude("UserPromptSubmit", prompt="Find the races.")
    crew.begin()
    crew.held()

    assert "review" in crew.claude.wakes()
    assert gather(crew.claude.journal.query, crew.claude.session, "claude", "compact", most=5)


def test_client_waits_longer_where_a_subagent_may_be_held() -> None:
    assert deadline._has_time(b'{"session_id":"s","hook_event_name":"SubagentStop"}')
    assert not deadline._has_time(b'{"session_id":"s","hook_event_name":"PostToolUse"}')
    call = '{"hook_event_name":"PreToolUse","tool_name":"%s","tool_input":{"prompt":"%s"}}'
    assert deadline._has_time((call % ("Agent", whole_output.SENTINEL)).encode())
    assert not deadline._has_time((call % ("Agent", "Look.")).encode())
    assert not deadline._has_time((call % ("Write", whole_output.SENTINEL)).encode())


@pytest.mark.req("OUT-13")
def test_launcher_hands_the_hold_over(repo: Path, world: Path, tmp_path: Path) -> None:
    hooks = Hooks(repo, put_launcher(world / "hook"))
    path, transcript = repo / "late.md", tmp_path / "agent.jsonl"
    said = {
        "type": "user",
        "message": {"role": "user", "content": whole_output.paragraph(str(path))},
    }
    transcript.write_text(json.dumps(said) + "\n", encoding="utf-8")
    fields = {"agent_id": AGENT, "agent_type": KIND, "agent_transcript_path": str(transcript)}

    first = hooks("SubagentStop", **fields, stop_hook_active=False)
    second = hooks("SubagentStop", **fields, stop_hook_active=False)

    assert json.loads(first.out) == {
        "decision": "block",
        "reason": whole_output.remedy(str(path), whole_output.MISSING),
    }
    assert second.out == b""
    hooks.whole()
