"""What a tool call is told of resumption sections that are not fresh. Hook path.

A write to a section's file is judged before and after, by what the file says. While a section is
CRITICAL, every call carries the demand to update it; a call is denied only where the user has
asked for that, and never one by which it could be updated.
"""

from __future__ import annotations

import os

from standfast.clients.claude import fill_monitor, hook_settings
from standfast.protocols.resumption.rules import updated_at
from standfast.protocols.resumption.rules.staleness import CRITICAL
from standfast.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.claude.call_notices import Watch
    from standfast.protocols.resumption.rules.staleness import Staleness

WRITES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_SPARED = frozenset({"Read", "Glob", "Grep", "LS", "AskUserQuestion", "ToolSearch"})
_HOW = "To update it: `standfast resumption trigger --help`."

_REFUSED = "SELECT refused FROM faces WHERE face = ? AND refused IS NOT NULL"


def answer(watch: Watch) -> str:
    """What is printed for a tool call."""
    call = watch.call
    file, home = written(watch) or (None, None)
    is_copy = home is not None and home != call.place.root
    worst = watch.worst()
    demanded = worst if worst is not None and worst[1].level == CRITICAL else None
    is_before = call.event == "PreToolUse"
    if (
        is_before
        and demanded is not None
        and hook_settings.is_guarded(call.environ)
        and not _is_spared(watch, None if is_copy else file)
    ):
        return _deny(watch, _demand(*demanded))
    if not is_before and _hears_before(watch):
        demanded = None  # it was told
    words = ""
    if file is not None:
        words = _of_copy(file, str(home)) if is_copy else _of_write(watch, file)
    if not words and demanded is not None:
        words = _demand(*demanded)
    if not is_before or _hears_before(watch):
        words += watch.put_back()
    return call.payload.beside(watch.printed, call.event, words) if words else watch.printed


def to_subagent(watch: Watch) -> str:
    """Results of subagents come into the section by who leads the work, and by nobody else."""
    call = watch.call
    if call.event != "PreToolUse" or written(watch) is None:
        return watch.printed
    words = (
        "Standfast: only the orchestrator writes the resumption section:"
        " give your result to it instead.\n"
    )
    return call.payload.beside(watch.printed, call.event, words)


def written(watch: Watch) -> tuple[str, str] | None:
    """The file of a section that this call writes, and where it is kept; None for other calls."""
    call = watch.call
    if call.tool not in WRITES:
        return None
    asked = ["?1->>'$.tool_input.file_path'", "?1->>'$.tool_input.notebook_path'"]
    named = next((str(each) for each in call.payload.ask(asked) if each is not None), "")
    if not named or "\0" in named:
        return None
    whole = os.path.normpath(os.path.join(call.cwd, named))
    root = call.place.root
    for file, home, *_ in call.documents:
        if os.path.join(home, file) == whole:
            return file, root  # itself, from wherever
    if os.path.basename(whole) != fill_monitor.FILE and not _is_known(watch, whole):
        return None
    below = _below(whole, root) or _below(os.path.realpath(whole), root)
    return (below, _home(watch, below)) if below else None


def _is_known(watch: Watch, whole: str) -> bool:
    root = watch.call.place.root
    return any(os.path.join(root, file) == whole for file, *_ in watch.call.documents)


def _home(watch: Watch, file: str) -> str:
    """Where a section is kept; of one whose checkout is gone, and of a new one, here."""
    from standfast.protocols.resumption.records import live_documents

    known = live_documents.home(watch.journal.query, file)
    return known if known and os.path.isdir(known) else watch.call.place.root


def _of_copy(file: str, home: str) -> str:
    kept = _shown(os.path.join(home, file))
    return (
        f"Standfast: the resumption section is kept in {kept}: this copy of {_shown(file)}"
        f" is not read. {_HOW}\n"
    )


def _below(path: str, root: str) -> str | None:
    return path[len(root) + 1 :] if path.startswith(root + os.sep) else None


def _of_write(watch: Watch, file: str) -> str:
    """What is wrong with the section that is written, as its file stands at this moment."""
    known = {name: each for name, *each in watch.call.documents}
    home, updated, phase = known.get(file, (watch.call.place.root, None, None))
    text = fill_monitor.read(str(home), file)
    said = updated_at.find(text) if text is not None else updated
    judged = watch.judge(said, phase) if said is not None else None
    if watch.call.event == "PostToolUse":
        watch.call.keeps = True
    refused = watch.journal.query(_REFUSED, (f"resumption/{file}",))
    return _warning(watch, file, judged) + "".join(refusal(watch, file, why) for (why,) in refused)


def refusal(watch: Watch, file: str, why: object) -> str:
    """Quoted: the reason may name what stands in the file."""
    from standfast.brief import delivery, voice  # rare

    mark = delivery.make_nonce(watch.journal.query)
    words = voice.Voice(mark, voice.SHORT).quote(str(why), 300)
    return f"Standfast: the last edit of {_shown(file)} was not taken over: {words}\n"


def _warning(watch: Watch, file: str, judged: Staleness | None) -> str:
    if judged is None or not judged.warns:
        return ""
    when = "Before this write" if watch.call.event == "PreToolUse" else "After this write"
    return (
        f"Standfast: {when.lower()} the resumption section of {_shown(file)} is {judged}."
        f" A write should set `recovery_state.updated_at` to now. {_HOW}\n"
    )


def _shown(file: str) -> str:
    """A path as far as it is plain: a folder's name may be anything."""
    plain = all(char.isalnum() or char in "/._- " for char in file)
    return one_line(file, 200) if plain else os.path.basename(file)[:40]


def _demand(file: str, judged: Staleness) -> str:
    return (
        f"Standfast: the resumption section of {_shown(file)} is {judged}:"
        f" update it before anything else. {_HOW}\n"
    )


def _hears_before(watch: Watch) -> bool:
    """Versions that name the session to their hooks also hand on what those before a call say.

    Of others it is not known: what must be heard is said before and after.
    """
    return "CLAUDE_CODE_SESSION_ID" in watch.call.environ


def _is_spared(watch: Watch, file: str | None) -> bool:
    """What an update can be made by, and what only looks."""
    call = watch.call
    if file is not None or call.tool in _SPARED:
        return True
    if call.tool != "Bash":
        return False
    (command,) = call.payload.ask(["?1->>'$.tool_input.command'"])
    return runs_only_ours(str(command or ""))


def runs_only_ours(line: str) -> bool:
    """Whether a command line runs `standfast` and nothing else, from whichever folder."""
    from standfast.formats.simple_commands import simple_commands  # only under the guard

    programs = [words[0] for words in simple_commands(line) or ()]
    ours = [each for each in programs if os.path.basename(each) == "standfast"]
    return bool(ours) and all(each == "cd" or each in ours for each in programs)


def _deny(watch: Watch, why: str) -> str:
    inner = watch.call.payload.write(
        {
            "hookEventName": watch.call.event,
            "permissionDecision": "deny",
            "permissionDecisionReason": why.strip(),
        }
    )
    return watch.call.payload.write({"json:hookSpecificOutput": inner})
