"""Where modules come from: nothing that Python's variables name or that lies where we are called.

An empty PYTHONPATH entry, a relative one and `python -m` all put a folder of the repository before
the standard library; PYTHONPYCACHEPREFIX has compiled modules taken from it, and a relative
PYTHONUSERBASE whole packages. The environment stays as it is: a user's own programs may need it.
"""

import os
import sys


def keep_to_ours() -> None:
    """Forget those folders; called before anything else is imported."""
    if sys.flags.isolated:
        return
    if "PYTHONPYCACHEPREFIX" in os.environ and not sys.flags.ignore_environment:
        sys.pycache_prefix = None
    named = os.environ.get("PYTHONPATH")
    foreign = set() if named is None else set(map(_whole, named.split(os.pathsep)))
    if not sys.flags.safe_path and "-m" in sys.orig_argv:
        foreign.add(_whole("" if sys.path[:1] == [""] else sys.path[0]))
    if "site" in sys.modules:  # where packages are installed is ours, whoever names it once more
        foreign -= set(sys.modules["site"].getsitepackages())
    if not os.path.isabs(os.environ.get("PYTHONUSERBASE") or "/") and "site" in sys.modules:
        foreign.add(_whole(sys.modules["site"].getusersitepackages()))
    if foreign:
        sys.path[:] = [each for each in sys.path if _whole(each) not in foreign]


def _whole(path: str) -> str:
    """Where a path leads; in a folder that is gone a relative one leads nowhere."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        return path
