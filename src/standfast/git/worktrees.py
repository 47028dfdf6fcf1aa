"""The worktrees of a repository: which there are, making one, mending one, retiring one."""

from standfast.git.damaged_worktree import can_be_read, put_aside, put_right
from standfast.git.new_worktree import add
from standfast.git.worktree_removal import remove
from standfast.git.worktree_state import Listed, listed, locks, read_list, sweep, unfinished

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
