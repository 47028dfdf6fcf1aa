"""What an agent left without committing it: complete work is committed, and made durable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import GitFailed
from standfast.git import Git, changes

if TYPE_CHECKING:
    from standfast.run.working import Work

# Whoever has told git no name still gets commits; every name that git knows goes before this one.
NOBODY = {
    f"GIT_{who}_{what}": said
    for who in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "Standfast"), ("EMAIL", "standfast@localhost"))
}
_NAMELESS = ("unable to auto-detect email", "empty ident name", "tell me who you are")


def commit(work: Work, title: str) -> str | None:
    """Commit all that git shows as changed or new, but for files of ours; None if there is none."""
    tree = work.tree
    names = [name for name in changes.paths(tree) if name not in work.spare]
    if not names:
        return None
    try:
        return tree.commit_durably(names, title)
    except GitFailed as error:
        if not any(words in error.problem for words in _NAMELESS):
            raise
    nameless = Git(directory=tree.directory, program=tree.program, variables=NOBODY)
    return nameless.commit_durably(names, title)
