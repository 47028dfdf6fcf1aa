"""One lane, from its worktree to its merge, and back."""
