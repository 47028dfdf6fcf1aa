"""The context monitor: how full the context is and how old the section, with a prompt. Hook path.

The fill comes from the client's own figures in its transcript, since the last compaction; a
crossing of tiers is kept after the answer, by `document_upkeep`.
"""

from __future__ import annotations

from standfast import disk
from standfast.clients.claude import transcript
from standfast.clients.hooks.hook_call import DOCUMENT
from standfast.errors.base import StandfastError
from standfast.protocols.resumption.rules import context_monitor, updated_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.claude.call_notices import Watch
    from standfast.clients.hooks.hook_call import Call
    from standfast.protocols.resumption.rules.context_monitor import Fill
    from standfast.protocols.resumption.rules.staleness import Staleness

FILE = DOCUMENT
READ = 512 * 1024  # real ones reach a quarter of that

_KEPT = "SELECT value ->> 'tier' FROM cells WHERE key = 'tier:' || ?"


def words(watch: Watch) -> str:
    """The tag, where there is a document and something is to be said."""
    judged = _judged(watch)
    if judged is None:
        return ""
    settings = watch.settings
    fill = fill_of(watch.call, settings.context_window)
    tier = fill.tier(settings.context_tiers)
    kept = watch.journal.query(_KEPT, (watch.call.session,))
    if context_monitor.crossing(str(kept[0][0]) if kept else "", tier)[1]:
        watch.call.crossed = (tier, fill)
    if not context_monitor.is_shown(tier, judged):
        return ""
    return context_monitor.tag(fill, judged, settings.context_tiers)


def _judged(watch: Watch) -> Staleness | None:
    worst = watch.worst()
    if worst is not None:
        return worst[1]
    text = read(watch.call.place.root, FILE)
    found = None if text is None else updated_at.find(text)
    if found is None or _is_known(watch):
        return None
    return watch.judge(found)


def _is_known(watch: Watch) -> bool:
    """A document that is over, here or where it is at home, asks for nothing."""
    from standfast.protocols.resumption.records import live_documents

    return live_documents.home(watch.journal.query, FILE) is not None


def read(root: str, file: str) -> str | None:
    """The text of a file below a root; None where there is none, or none that can be judged."""
    try:
        data = disk.read_beneath(root, file, limit=READ)
    except (StandfastError, OSError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")


def fill_of(call: Call, context_window: int | None) -> Fill:
    """Tokens of the newest reply since the last compaction, in the window as it is known.

    As the client was told, as the user says, or as the name of the model does; more tokens than
    a window holds prove a larger one.
    """
    (path,) = call.payload.ask(["?1->>'transcript_path'"])
    tokens, model = transcript.newest(transcript.tail(None if path is None else str(path)))
    named = call.environ.get("ANTHROPIC_MODEL", "")
    large = context_monitor.LARGE_MODEL
    model = large if large in {model[-4:], named[-4:]} else model
    told = transcript.told_window(call.environ) or context_window
    window = context_monitor.window_of(model, told)
    if not told and tokens is not None and tokens > window:
        window = context_monitor.LARGE_WINDOW
    return context_monitor.Fill(tokens, window)
