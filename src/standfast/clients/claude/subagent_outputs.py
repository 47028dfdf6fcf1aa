"""The files that a subagent was told to leave behind, when it is asked for and when it stops.

Whoever asks for a subagent launches its outputs: launches are counted, and who asks too often is
told. One that ends without its file has worked for nothing: it is held once and told what is
missing, if the file is in the repository or the session's directory and is meant beyond doubt.
Files are read before the journal is entered: a disk that hangs must not keep others out. Loaded
only where there is something to do. Hook path.
"""

from __future__ import annotations

from standfast.clients.claude import transcript
from standfast.clients.claude.hook_facts import MAIN, Fact
from standfast.clients.claude.hook_payload import Payload
from standfast.errors.base import BadDocument, DiskFailed, StandfastError
from standfast.protocols.outputs.files import output_file, output_places
from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.outputs.rules.prompts import declared_outputs
from standfast.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.clients.claude.derived_facts import Ask
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.store import Journal
    from standfast.protocols.outputs.files.output_file import Seen
    from standfast.protocols.outputs.files.output_places import Place

MOST = 32  # files of one prompt
_REASON = 8_000  # characters: the client cuts what is longer than 10,000
_FIRST_LINES = 20
_REDACTED = "[redacted:"  # what the journal has of such a path leads nowhere
_ASKED = "?1->>'$.tool_input.prompt'"
_SAID = """CASE json_type(?1,'$.message.content')
    WHEN 'array' THEN (SELECT group_concat(value->>'text',char(10))
      FROM json_each(?1,'$.message.content') WHERE type='object')
    ELSE ?1->>'$.message.content' END"""

_KNOWN_CALL = "SELECT 1 FROM work WHERE session = ? AND what = 'call' AND key = ?"

# Only a journal that answers may say that nobody was held: from a spool nobody can tell.
_NEVER_HELD = """
    SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM events
      WHERE stream = 'session:' || ?1 AND kind = 'output.held' AND payload ->> 'agent' = ?2)"""

_COUNTED = """
    SELECT times, ?2 + ifnull((SELECT value ->> 'times' FROM cells
      WHERE key = 'output.granted:' || ?1), 0)
    FROM (SELECT CAST(value ->> 'times' AS INTEGER) AS times FROM cells
      WHERE key = 'output.launched:' || ?1)"""
_LAST_BY = f"""
    SELECT * FROM ({_COUNTED}) WHERE times > ?2 AND EXISTS (SELECT 1 FROM cells
      WHERE key = 'output.launched:' || ?1 AND value ->> 'call' = ?3)"""  # noqa: S608  # our own words

# By the call that asked for a subagent, where no other call of its kind was in flight as well.
_LAUNCHED = """
    SELECT launched.payload ->> 'path' FROM work AS agent
    JOIN events AS began ON began.seq = agent.begun
    JOIN work AS call ON call.session = agent.session AND call.what = 'call'
      AND call.key = began.payload ->> 'call'
    JOIN events AS asked ON asked.seq = call.begun
    JOIN events AS launched ON launched.seq BETWEEN call.begun AND agent.begun
      AND launched.kind = 'output.launched' AND launched.payload ->> 'call' = call.key
    WHERE agent.session = ?1 AND agent.what = 'agent' AND agent.key = ?2 AND NOT EXISTS (
      SELECT 1 FROM work AS other JOIN events AS its ON its.seq = other.begun
      WHERE other.session = ?1 AND other.what = 'call' AND other.key <> call.key
        AND its.payload ->> 'tool' IN ('Agent', 'Task')
        AND its.payload ->> 'type' IS asked.payload ->> 'type'
        AND other.begun < agent.begun AND (other.ended = 0 OR other.ended > agent.begun))
    ORDER BY launched.seq"""


def named(call: Call) -> list[str]:
    """Every output of ours that the prompt for a subagent declares, by its one path.

    The prompt is taken from the payload: what is recorded of it is cut. Where no file can be
    written, a launch is spent on nothing and is not counted.
    """
    (prompt,) = call.payload.ask([_ASKED])
    found = _grounds(call).find(declared_outputs.declared(str(prompt or ""))[:MOST])
    return [
        place.path for place in found if place.is_ours and output_places.takes_files(place.path)
    ]


def _grounds(call: Call) -> output_places.Grounds:
    project = call.environ.get("CLAUDE_PROJECT_DIR") or call.place.root
    return output_places.Grounds(call.place.root, project, call.cwd, call.environ)


def launched(asked: Fact, call: Call, ask: Ask) -> list[Fact]:
    """A launch of each output of this call, and which of them have had all of theirs.

    A call that is known was counted: hooks may be installed twice.
    """
    use = str(asked.fields.get("id", ""))
    if ask(_KNOWN_CALL, (call.session, use)):
        return []
    for path in call.declared:
        for times, most in ask(_COUNTED, (path, whole_output.LAUNCHES)):
            if int(str(times)) >= int(str(most)):
                call.relaunched.append((path, int(str(times)) + 1))
    return [
        Fact("output.launched", {"path": path, "by": MAIN, "call": use}, asked.actor)
        for path in call.declared
    ]


def told_late(call: Call, ask: Ask) -> None:
    """Older clients do not hand on what is said before a call: it is said when it comes back."""
    (use,) = call.payload.ask(["?1->>'tool_use_id'"])
    for path in call.declared:
        for times, _ in ask(_LAST_BY, (path, whole_output.LAUNCHES, str(use))):
            call.relaunched.append((path, int(str(times))))


def too_often(call: Call) -> str:
    """What whoever launches an output once more than it may be is told."""
    return "".join(_too_often(path, times) for path, times in call.relaunched)[:_REASON]


def _too_often(path: str, times: int) -> str:
    try:
        fault = output_file.look(path).fault
    except (DiskFailed, ValueError):
        return ""
    shown = one_line(path, 300)
    if fault is None:
        return f"Standfast: {shown} is complete, and this is its launch number {times}: read it.\n"
    return (
        f"Standfast: {whole_output.wrong(shown, fault)}, and this is its launch {times};"
        f" an output has {whole_output.LAUNCHES}. Launch it no more: tell the user, who may allow"
        " another launch (`standfast outputs grant`) or go on without it"
        " (`standfast outputs accept`).\n"
    )


class Looked:
    """One output as it was found when its subagent stopped."""

    __slots__ = ("digest", "fault", "path", "size")

    def __init__(self, path: str, seen: Seen) -> None:
        self.path = path
        self.fault = seen.fault or ""
        self.digest, self.size = seen.digest, seen.size  # not its contents: there may be many


def look(call: Call, journal: Journal) -> list[Looked]:
    """Every output that this subagent's prompt declares; none where the prompt is not known."""
    agent, kind, path = call.payload.ask(
        ["?1->>'agent_id'", "?1->>'agent_type'", "?1->>'agent_transcript_path'"]
    )
    if not agent or kind == "":  # a compaction works in a subagent of its own
        return []
    try:
        paths = _declared(None if path is None else str(path))
        if paths is None:
            rows = journal.query(_LAUNCHED, (call.session, str(agent)[:64]))
            paths = [str(row[0]) for row in rows if _REDACTED not in str(row[0])]
        places = _grounds(call).find(paths[:MOST])
        found = [_look(place) for place in places if place.is_ours]
    except (StandfastError, OSError):
        return []
    return [each for each in found if each is not None]


def _declared(path: str | None) -> list[str] | None:
    """What the first words in a subagent's transcript declare; None where there are none."""
    for line in transcript.head(path).split(b"\n", _FIRST_LINES)[:_FIRST_LINES]:
        said = _said(line) if b'"user"' in line else None
        if said is not None:
            return declared_outputs.declared(said)
    return None


def _said(line: bytes) -> str | None:
    """What somebody said to the subagent in this line, if it is whole."""
    try:
        kind, said = Payload(line.decode("utf-8", "replace"), len(line)).ask(["?1->>'type'", _SAID])
    except BadDocument:
        return None
    return str(said or "") if kind == "user" else None


def _look(place: Place) -> Looked | None:
    """Judge one file, wherever it was put; None where this moment does not tell."""
    try:
        found = Looked(place.path, output_file.look(place.path))
        for path in place.elsewhere if found.fault else ():
            other = Looked(path, output_file.look(path))
            if not other.fault:
                return other
    except (DiskFailed, ValueError):
        return None
    return found


def ended(over: Sequence[Fact], call: Call, ask: Ask) -> list[Fact]:
    """What was found, and that the subagent is over; or that it is held, which it is only once.

    Older clients do not tell a compaction's subagent from others: only one that began counts.
    """
    active, kind = call.payload.ask(["?1->>'stop_hook_active'", "?1->>'agent_type'"])
    if not over and not kind:
        return []
    checked = [
        _fact("output.checked", each, call, {"digest": each.digest, "size": each.size})
        for each in call.outputs
    ]
    invalid = [each for each in call.outputs if each.fault]
    call.hold = ""
    if not invalid or active or not ask(_NEVER_HELD, (call.session, str(call.agent))):
        return [*checked, *over]
    call.hold = call.payload.write({"decision": "block", "reason": _reason(invalid)})
    return [*checked, *(_fact("output.held", each, call, {}) for each in invalid)]


def _fact(kind: str, output: Looked, call: Call, more: Mapping[str, str | int]) -> Fact:
    agent = str(call.agent)
    about = {"path": output.path, "fault": output.fault, "agent": agent}
    return Fact(kind, {**about, **more}, agent)


def _reason(invalid: Sequence[Looked]) -> str:
    """What each lacks, as far as the client shows it."""
    said, rest = whole_output.remedy(invalid[0].path, invalid[0].fault), len(invalid) - 1
    for each in invalid[1:]:
        more = f"{said}\n{whole_output.remedy(each.path, each.fault)}"
        if len(more) > _REASON:
            return f"{said}\n{rest} more of your files are not complete either.\n"
        said, rest = more, rest - 1
    return said
