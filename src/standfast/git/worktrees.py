"""The worktrees of a repository: which there are, making one, mending one, retiring one."""

from standfast.git.adding import add
from standfast.git.damaged import can_be_read, put_aside, put_right
from standfast.git.retiring import remove
from standfast.git.standing import Listed, listed, locks, read_list, sweep, unfinished

__all__ = [
    "Listed",
    "add",
    "can_be_read",
    "listed",
    "locks",
    "put_aside",
    "put_right",
    "read_list",
    "remove",
    "sweep",
    "unfinished",
]
