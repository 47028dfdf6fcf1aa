"""What a call says of documents and rules that concern it, beside any brief. Hook path.

Loaded only where there is such a document or rule. Files and the transcript are read after the
journal has the fact and is free again; whatever fails here costs a word, never the fact.
"""

from __future__ import annotations

from standfast import clock
from standfast.clients.claude import hook_settings
from standfast.protocols.resumption.records import freshness
from standfast.protocols.resumption.rules import staleness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.claude.hook_settings import Chosen
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.store import Journal
    from standfast.protocols.resumption.rules.staleness import Staleness

CAP = 9_500  # of the client's 10,000 units for one hook: the rest is for what they count and we not

_PUT_BACK = "SELECT 1 FROM cells WHERE key = 'passed:' || ? AND NOT value ->> 'said'"


class Watch:
    """One call, its live documents, and what can be asked of both."""

    __slots__ = ("_settings", "call", "journal", "now", "printed", "session_at")

    def __init__(self, call: Call, journal: Journal, printed: str) -> None:
        self.call = call
        self.journal = journal
        self.printed = printed
        self._settings: Chosen | None = None
        self.now = clock.now_us()
        self.session_at = freshness.session_start(journal.query, call.session)

    def judge(self, updated_at: object, phase_at: object = None) -> Staleness:
        """How old a section is for this session."""
        return staleness.judge(
            updated_at,
            now_us=self.now,
            session_started_us=self.session_at,
            phase_started_us=phase_at if isinstance(phase_at, int) else None,
        )

    def worst(self) -> tuple[str, Staleness] | None:
        """The live document that needs an update most, if there is any document."""
        judged = [
            (file, self.judge(updated_at, phase_at))
            for file, _, updated_at, phase_at in self.call.documents
        ]
        order = staleness.LEVELS.index
        return min(judged, key=lambda each: order(each[1].level)) if judged else None

    @property
    def settings(self) -> Chosen:
        """What is set, asked once."""
        if self._settings is None:
            self._settings = hook_settings.settings(self.call)
        return self._settings

    def put_back(self) -> str:
        """What of the last edits of a section was not taken over, said once, and quoted."""
        left = self.journal.query(_PUT_BACK, (self.call.session,)) if self.call.documents else []
        if not left:
            return ""
        from standfast.clients.claude import tool_guard  # rare, as all below
        from standfast.protocols.resumption.records import reverted_edits

        self.call.said = True
        return "".join(
            tool_guard.refusal(self, str(file), f"`{at}` {problem}")
            for file, at, problem in reverted_edits.unsaid(self.journal.query, self.call.session)
        )

    def fits(self, words: str) -> bool:
        """Whether the client hands all of it to the model."""
        return _units(self.call.payload.beside(self.printed, self.call.event, words)) <= CAP


def _units(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def speak(call: Call, journal: Journal, printed: str) -> str:
    """What is printed, with what is to be said of documents and rules."""
    watch = Watch(call, journal, printed)
    if call.event == "UserPromptSubmit":
        from standfast.clients.claude import fill_monitor, reminders

        words = fill_monitor.words(watch) + watch.put_back()
        words += reminders.words(watch, words)
        return call.payload.beside(printed, call.event, words) if words else printed
    from standfast.clients.claude import tool_guard

    return tool_guard.answer(watch) if call.agent is None else tool_guard.to_subagent(watch)
