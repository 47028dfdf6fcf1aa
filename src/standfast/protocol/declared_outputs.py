"""The files that a prompt tells its agent to leave behind, as the prompt names them. Hook path.

Only a prompt that asks for the sentinel declares any. Our own paragraph is plain; everything else
is read as a person reads it (`prompt_lines`, `prompt_tokens`, `output_phrases`), and of several
ways to read it the one that holds nobody back.
"""

from __future__ import annotations

from standfast.protocol import output_phrases, outputs, prompt_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocol.prompt_tokens import Token

MOST = 200  # paths of one prompt that are judged
_WHOLE = 256 * 1024  # characters of a prompt: more than any model is told at once
_LONGEST = 4096
_FAR = 2_000  # words of one line
_ADDS = frozenset({"add", "append", "include", "use", "put", "end"})
_NO = frozenset({"not", "don't", "never", "no", "without"})
_BESIDE = frozenset({"after", "before", "behind", "below", "past", "following", "until", "unless"})
_INSIDE = frozenset({"in", "inside", "into", "under", "within"})
_FOLDERS = frozenset({"folder", "directory", "dir", "location", "place"})
_ROOTS = frozenset({"root", "repo", "repository", "project", "current", "working", "top"})
_SESSION = ("session dir", "session folder", "session_dir", "session-dir")


def declared(text: str) -> list[str]:
    """Every file once: absolute, below `~`, below some folder, or a bare name."""
    if not _asks_for_the_sentinel(text):
        return []
    ours = outputs.paragraphs(text)
    if ours:
        return [each for each in ours if each.endswith(".md") and _is_path(each)]
    if len(text) > _WHOLE:
        return []
    sure: list[str] = []
    perhaps: list[str] = []
    seen = 0
    for line in prompt_lines.addressed(text):
        verdicts: list[int] = []
        for at, token in enumerate(line[:_FAR]):
            verdict = output_phrases.judge(line, at, verdicts) if token.path else output_phrases.NO
            verdicts.append(verdict)
            path = _whole(text, line, at) if verdict else ""
            if path and _is_path(path):
                (sure if verdict == output_phrases.SURELY else perhaps).append(path)
            seen += bool(token.path)
        if seen >= MOST:
            break
    found = list(dict.fromkeys(sure or perhaps))
    return found if sure or len(found) == 1 else []


def _asks_for_the_sentinel(text: str) -> bool:
    """Whether it is named at all other than to be left away."""
    return any(
        not _is_unwanted(before[-200:], behind[:200])
        for before, behind in _around(text, outputs.SENTINEL)
    )


def _around(text: str, mark: str) -> list[tuple[str, str]]:
    parts = text.split(mark)
    return [(parts[at], parts[at + 1]) for at in range(min(len(parts) - 1, MOST))]


def _is_unwanted(before: str, behind: str) -> bool:
    """`Do not add the … line`; not `do not add anything after …`."""
    words = [word.strip("`*,:\"'").lower() for word in before.replace("\u2019", "'").split()]
    near = words[-8:]
    verbs = [at for at, word in enumerate(near) if word in _ADDS]
    if not verbs or _NO.isdisjoint(near[: verbs[-1]][-2:]):
        return False
    rest = {word.strip("`*.,").lower() for word in behind.split(".", maxsplit=1)[0].split()}
    return _BESIDE.isdisjoint({*near[verbs[-1] :], *rest})


def _whole(text: str, line: Sequence[Token], at: int) -> str:
    """A bare name may have its folder behind it, or the prompt its session directory elsewhere."""
    path = line[at].path
    if "/" in path:
        return path
    words = line[at + 1 :]
    if line[at].ends or line[at].comma or not words or words[0].word not in _INSIDE:
        return _in_session(text, path)
    for each in words[1:]:
        folder = each.raw.strip("`\"'")
        if "/" in folder and not each.path:
            return f"{folder.rstrip('/')}/{path}" if _is_plain(folder) else ""
        if each.ends or each.word == "session":
            break
    told = {each.word for each in words[1:5]}
    if "session" in told:
        return _in_session(text, path)
    if not _ROOTS.isdisjoint(told):
        return f"./{path}"
    return path if _FOLDERS.isdisjoint(told) else ""


def _in_session(text: str, path: str) -> str:
    """Where the prompt says which directory is the session's, it is that one."""
    lower = text.lower()
    for name in _SESSION:
        at = lower.find(name)
        end = lower.find("\n", at)
        words = text[at : end if end > 0 else at + _LONGEST].split() if at >= 0 else ()
        for word in words:
            folder = word.strip("`\"'.,;:()*")
            if "/" in folder and not folder.endswith(".md"):
                if word.lstrip("`\"'(*").startswith((".", "~", "/")):
                    folder = word.strip("`\"',;:()*").rstrip(".")
                return f"{folder.rstrip('/')}/{path}" if _is_plain(folder) else path
    return path


def _is_path(path: str) -> bool:
    """Whether a system may know it."""
    return len(path) <= _LONGEST and path.isprintable()


def _is_plain(folder: str) -> bool:
    return not any(char in "{}<>[]$*?|\\…" for char in folder) and "://" not in folder
