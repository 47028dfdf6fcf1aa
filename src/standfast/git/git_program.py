"""Which program is git: the first in PATH, or the one that the user's settings name."""

_chosen = "git"


def choose(program: str) -> None:
    """From now on this process calls this one."""
    global _chosen  # noqa: PLW0603  # settings are read where no git is, and there is one git
    _chosen = program


def chosen() -> str:
    """The name or the path of the program."""
    return _chosen
