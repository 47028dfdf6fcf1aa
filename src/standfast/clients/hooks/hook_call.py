"""One hook call, served by the child that may wait for the disk: record it, answer, tidy up.

In this order: read what the client says, find the journal, record in one transaction what is
told and what is given, answer, and only then do what nobody waits for. What the journal cannot
take in time goes to the spool; what that cannot take leaves a mark. Hook path.
"""

from __future__ import annotations

import os

from standfast import clock, ids, xdg
from standfast.clients.claude import derived_facts
from standfast.clients.claude import hook_payload as claude_payload
from standfast.clients.claude.hook_facts import DELEGATES, MAIN, facts
from standfast.clients.hooks.deadline import ANSWER, WAKES
from standfast.errors.base import BadName, JournalBusy, StandfastError
from standfast.journal import place
from standfast.journal.author import STANDFAST, USER, Author
from standfast.journal.store import Journal
from standfast.journal.tables.schema import ANY_DOCUMENT
from standfast.journal.tables.session_folds import owed_brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.clients.claude.hook_facts import Fact
    from standfast.clients.claude.hook_payload import Payload
    from standfast.clients.claude.role_moves import Look
    from standfast.clients.claude.subagent_outputs import Looked
    from standfast.journal.place import Place
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.records.live_documents import Known
    from standfast.protocols.resumption.rules.context_monitor import Fill
    from standfast.protocols.resumption.rules.reinject_markers import Refused

# Where a brief may be handed over: what these print reaches the next request in every version.
_MAY_CARRY = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"})
_OF_ROLES = ("PreCompact", "SessionStart")
# Those that a resumption document may concern; few repositories have one.
_WATCHED = frozenset(
    {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact"}
)
DOCUMENT = "ORCHESTRATION.yaml"
_RULES = (DOCUMENT, "CLAUDE.md", ".claude")
_MARK = "<!--"  # the sentinel begins so: a prompt without it declares no output
LOCK_S = 0.1
_WAKE_LOCK_S = 1.0
_LONGEST_TURN_NS = 60_000_000_000
_SUPERVISOR = "standfast.effects.supervisor"
_ASKED = ("hook_event_name", "session_id", "agent_id", "cwd", "tool_name")


class Call:
    """One call of one hook: who calls, about what, and where its journal is."""

    __slots__ = (
        *("agent", "began", "crossed", "cwd", "declared", "documents", "environ", "event", "fired"),
        *("hold", "keeps", "outputs", "payload", "pid", "place", "refused", "relaunched", "role"),
        *("said", "session", "tool"),
    )

    def __init__(self, payload: Payload, pid: str, environ: Mapping[str, str]) -> None:
        self.began = clock.now_us()
        self.payload = payload
        self.pid = pid
        self.environ = environ
        asked = payload.ask([f"?1->>'{name}'" for name in _ASKED])
        event, session, agent, cwd, tool = (None if one is None else str(one) for one in asked)
        if not event:
            raise BadName("it names no event")
        self.event = event
        self.session = ids.session_id(session)
        self.agent = _as_name(agent) if agent else None
        self.cwd = cwd if cwd and os.path.isabs(cwd) and "\0" not in cwd else here()
        self.tool = tool or ""
        self.declared: list[str] = []  # outputs that a subagent is asked for
        self.relaunched: list[tuple[str, int]] = []  # those that have had all their launches
        self.outputs: list[Looked] = []  # what a subagent that stops was told to leave behind
        self.hold = ""  # what to print so that it goes on
        self.place = find_place(environ, self.cwd)
        self.role: Look | None = None
        self.documents: list[Known] = []  # live ones that concern this checkout
        self.keeps = False  # whether a file of theirs was written
        self.fired = False  # whether a trigger was fired by it
        self.crossed: tuple[str, Fill] | None = None  # the tier that the context has come to
        self.said = False  # whether the session was told of edits that were put back
        self.refused: list[tuple[str, bytes, list[Refused]]] = []  # reminders that are not said

    @property
    def wakes(self) -> bool:
        """Whether the client gives this hook the longer time."""
        return self.event in WAKES

    def author(self, actor: str) -> Author:
        """Who says a fact of this call."""
        return Author(actor, session=self.session, subdir=self.place.subdir)


def _as_name(agent: str) -> str:
    """A teammate's id holds an `@`: what no name may hold becomes a dash."""
    plain = "".join(
        char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in agent
    )
    return ids.name(plain.strip("._-")[:64] or "unnamed", what="agent")


def here() -> str:
    """Where this process stands; its folder may have been removed since."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def find_place(environ: Mapping[str, str], cwd: str) -> Place:
    """A session's journal goes by its first directory, wherever one call stands."""
    start = environ.get("CLAUDE_PROJECT_DIR") or cwd
    return place.find(start, state_home=xdg.state_home(environ))


def serve(pid: str, environ: Mapping[str, str], answer: int, head: bytes = b"") -> None:
    """Take one call from stdin, after its *head*; the waiting parent listens at *answer*."""
    given = claude_payload.read(0, head)
    try:
        call = Call(given, pid, environ)
        found = facts(given, call.event, call.agent or MAIN, call.place.root)
        _say_whose_prompt(found)
    except StandfastError as error:
        from standfast.clients.hooks import fact_fallback

        fact_fallback.tell_garbled(given, find_place(environ, here()), environ, error)
        _say(answer, ANSWER)
        return
    if call.place.is_off:
        _say(answer, ANSWER)
        return
    _serve(call, found, answer)


def _say_whose_prompt(found: list[Fact]) -> None:
    """In a session that we began for an agent nobody is asked: the prompt is ours."""
    prompts = [fact for fact in found if fact.actor == USER.actor]
    if not prompts:
        return
    from standfast.journal import session_process  # most calls are an agent's own

    if session_process.is_below(_SUPERVISOR):
        for fact in prompts:
            fact.actor = STANDFAST.actor


def _say(answer: int, words: bytes) -> bool:
    """Tell the parent; False when it is gone, which is no reason to stop."""
    try:
        os.write(answer, words)
    except OSError:
        return False
    return True


def _serve(call: Call, found: list[Fact], answer: int) -> None:
    journal = Journal(call.place.folder, lock_timeout_s=_patience(call), checkpoint=False,
                      state_home=xdg.state_home(call.environ))  # fmt: skip
    _look_at_prompt(call)
    try:
        place.refuse_foreign(call.place)
        journal.make_if_gone()
        if call.event == "SessionStart":
            _bring_home(call, journal)
        elif call.event == "SubagentStop":
            from standfast.clients.claude import subagent_outputs

            call.outputs = subagent_outputs.look(call, journal)
        if call.event in _OF_ROLES and call.environ.get("HIVEMIND_ROLE"):
            _look_at_role(call)
        recorded = _record_in_turn(call, found, journal)
    except (StandfastError, OSError) as error:
        journal.let_go()
        from standfast.clients.hooks import fact_fallback

        if not fact_fallback.keep(call, found, error):
            return  # who gets no answer leaves a mark, if that can be done at all
        recorded = None
    if recorded is None:
        journal.let_go()
        _say(answer, ANSWER)
        return
    output, wake = recorded
    output = _speak(call, journal, output)
    told = _say(answer, ANSWER + output.encode())
    os.close(answer)
    try:
        if not told:
            _tell_missed(call, found, wake, journal)
        from standfast.clients.hooks import aftermath

        aftermath.tidy(call, journal)
    except (StandfastError, OSError):
        pass  # the fact is safe: the next call finds the same to do
    finally:
        journal.let_go()


def _look_at_prompt(call: Call) -> None:
    """Which files a subagent is asked for: told before its call, to older clients after it too."""
    if call.tool not in DELEGATES or _MARK not in call.payload.text:
        return
    hears_before = "CLAUDE_CODE_SESSION_ID" in call.environ
    if call.event != "PreToolUse" and (call.event != "PostToolUse" or hears_before):
        return
    from standfast.clients.claude import subagent_outputs  # of many prompts few declare one

    try:
        call.declared = subagent_outputs.named(call)
    except Exception:  # noqa: BLE001  # whatever stands in a prompt, the call is recorded
        call.declared = []


def _speak(call: Call, journal: Journal, output: str) -> str:
    """What is printed, with what there is to be said beside it."""
    if call.relaunched:
        from standfast.clients.claude import subagent_outputs

        output = call.payload.beside(output, call.event, subagent_outputs.too_often(call))
    return _watch(call, journal, output) if _is_watched(call) else output


def _is_watched(call: Call) -> bool:
    """Whether there is anything to be said of documents or rules: told without reading any."""
    if call.event == "UserPromptSubmit":
        root = call.place.root
        return bool(call.documents) or any(os.path.lexists(f"{root}/{name}") for name in _RULES)
    if call.event not in {"PreToolUse", "PostToolUse"}:
        return False
    return bool(call.documents) or _names_document(call)


def _names_document(call: Call) -> bool:
    is_write = call.tool in {"Write", "Edit", "MultiEdit", "NotebookEdit"}
    return is_write and DOCUMENT in call.payload.text


def _watch(call: Call, journal: Journal, output: str) -> str:
    from standfast.clients.claude import call_notices  # most repositories have nothing to watch

    try:
        return call_notices.speak(call, journal, output)
    except Exception:  # noqa: BLE001  # whatever stands in a repository, the client has its answer
        return output


def _tell_missed(call: Call, found: list[Fact], wake: int, journal: Journal) -> None:
    """Nobody waits any more: the brief was not printed, the subagent was not held and is over."""
    if wake:
        journal.append("brief.missed", call.payload.write({"owed": wake}), call.author(MAIN))
    if call.hold:
        call.outputs = []
        try:
            _record_in_turn(call, found, journal)
        except (StandfastError, OSError) as error:
            from standfast.clients.hooks import fact_fallback

            fact_fallback.keep(call, found, error)


def _look_at_role(call: Call) -> None:
    """Before the transaction: files are read while nobody waits for the journal."""
    from standfast.clients.claude import role_moves  # most agents have none

    try:
        call.role = role_moves.look(call)
    except Exception:  # noqa: BLE001  # whatever a role's file does, the fact is recorded
        call.role = None


def _bring_home(call: Call, journal: Journal) -> None:
    """A brief must know what had to be kept in the spool."""
    from standfast.journal.fallback import spool

    try:
        if spool.is_used(journal.folder):
            from standfast.journal.fallback import strays

            strays.merge(journal, xdg.temporaries(call.environ))
    except (StandfastError, OSError):
        pass  # the brief then knows as much as the journal does


def _record_in_turn(call: Call, found: list[Fact], journal: Journal) -> tuple[str, int] | None:
    """Record, or spool what the journal cannot take in time; None when the spool has it all.

    Many may come at once: as long as the journal moves on, our turn will come; and where the
    spool is full nothing is left but to wait, which costs nobody anything any more.
    """
    until = clock.monotonic_ns() + _LONGEST_TURN_NS
    while True:
        before = _progress(journal)
        try:
            return _record(call, found, journal)
        except JournalBusy:
            if clock.monotonic_ns() > until:
                raise
            if _progress(journal) == before:  # somebody sits on it
                from standfast.clients.hooks import fact_fallback

                found[:] = fact_fallback.unspooled(call, found)
                if not found:
                    return None


def _progress(journal: Journal) -> tuple[int, int]:
    """Changes with every commit."""
    try:
        found = os.stat(f"{journal.path}-wal")
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _patience(call: Call) -> float:
    """A journal that somebody is making at this moment has no spool yet to turn to."""
    spooled = os.path.lexists(os.path.join(call.place.folder, "spool"))
    return LOCK_S if spooled and not call.wakes else _WAKE_LOCK_S


def _record(call: Call, found: list[Fact], journal: Journal) -> tuple[str, int]:
    """Everything this call tells, in one transaction; what to print, and the brief it holds."""
    with journal.writing() as tx:
        actor = derived_facts.actor(call, tx.execute)
        if actor != MAIN:
            call.role = None  # the role is the main agent's
        for fact in found:
            fact.actor = actor if fact.actor == (call.agent or MAIN) else fact.actor
        told = derived_facts.complete(found, call, tx.execute)
        for fact in told:
            text = call.payload.write(fact.fields)
            # The call's own time, as in the spool: a fact that went both ways is known by it.
            tx.append(fact.kind, text, call.author(fact.actor), at=call.began)
        if actor == MAIN and call.event in _WATCHED:
            _look_for_documents(call, tx)
            if call.documents and call.wakes and told:
                _compact(call, tx)
        if call.event not in _MAY_CARRY:
            return call.hold if call.role is None else _before_compaction(call, tx), 0
        wake = owed_brief(tx.execute, call.session, actor)
        if wake is None and call.event != "SessionStart":
            return "", 0
        from standfast.clients.claude import answers  # most calls get none

        return answers.answer(call, actor, wake, tx)


def _look_for_documents(call: Call, tx: Writing) -> None:
    if tx.execute(ANY_DOCUMENT):
        from standfast.protocols.resumption.records import (
            live_documents,  # most repositories have none
        )

        call.documents = live_documents.documents(tx.execute, call.place.root)


def _compact(call: Call, tx: Writing) -> None:
    """Documents before and after a compaction; what goes wrong with them never costs the fact."""
    from standfast.clients.claude import document_upkeep

    act = (
        document_upkeep.before_compaction
        if call.event == "PreCompact"
        else document_upkeep.at_start
    )
    try:
        tx.trial(lambda: act(call, tx))
    except (StandfastError, LookupError, TypeError, ValueError):
        pass  # a document that makes no sense is told by commands


def _before_compaction(call: Call, tx: Writing) -> str:
    from standfast.clients.claude import role_moves

    return role_moves.before_compaction(call, tx)
