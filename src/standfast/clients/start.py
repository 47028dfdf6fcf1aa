"""Where the launcher starts Python: `python -I -S start.py LIBRARIES PID BUNDLE`.

Without `site` there is no way to packages, so the launcher names the folder that holds apsw.
The bundle saves opening forty files; a module whose file has changed since is not taken from
it. This file is compiled at every call: it stays this small.
"""

import gc
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


class Bundled:
    """Finds and loads modules of the bundle, as the import system asks for them."""

    modules: "dict[str, tuple[bool, str, tuple[int, int], bytes]]"  # as `bundle` makes them

    @classmethod
    def find_spec(
        cls, name: str, _path: object = None, _target: object = None
    ) -> "ModuleSpec | None":
        """A module whose file is still the one that was compiled; others are found as usual."""
        found = cls.modules.get(name)
        if found is None:
            return None
        is_package, file, stamp, _ = found
        stat = os.stat(file)
        if (stat.st_mtime_ns, stat.st_size) != stamp:
            return None
        spec = ModuleSpec(name, cls, origin=file, is_package=is_package)  # type: ignore[arg-type]  # a class serves
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(file))
        return spec

    @staticmethod
    def create_module(_spec: object) -> None:
        """As usual."""

    @classmethod
    def exec_module(cls, module: "ModuleType") -> None:
        """Run the compiled code."""
        code = marshal.loads(cls.modules[module.__name__][3])  # noqa: S302  # our own file
        exec(code, module.__dict__)  # noqa: S102  # that is what importing is


def use_bundle(path: str) -> None:
    """Take modules from the bundle, if it is there, whole, and made by this very Python."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(MAGIC_NUMBER):
            Bundled.modules = marshal.loads(data[len(MAGIC_NUMBER) :])  # noqa: S302  # as above
            sys.meta_path.insert(0, Bundled)
    except (OSError, ValueError, EOFError, TypeError):
        pass  # without it everything is found as usual


if __name__ == "__main__":
    gc.disable()  # nothing lives long enough here to be collected
    use_bundle(sys.argv[3])
    sys.path[:0] = [__file__[: -len("/standfast/clients/start.py")], sys.argv[1]]

    from standfast.clients.hook import main

    os._exit(main(sys.argv[2]))  # an interpreter that is torn down in order costs a millisecond
