"""The finder that a bundle brings along: `start` runs it with the bundle's MODULES.

Hook path.
"""

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    MODULES: dict[str, tuple[bool, str, tuple[int, int], bytes]]  # as `bundle` makes them


class Bundled:
    """Finds and loads modules of the bundle, as the import system asks for them."""

    @classmethod
    def find_spec(
        cls, name: str, _path: object = None, _target: object = None
    ) -> "ModuleSpec | None":
        """A module whose file is still the one that was compiled; others are found as usual."""
        found = MODULES.get(name)  # noqa: F821  # `start` puts it here
        if found is None:
            return None
        is_package, file, stamp, _ = found
        try:
            stat = os.stat(file)
        except OSError:  # an upgrade has moved it
            return None
        if (stat.st_mtime_ns, stat.st_size) != stamp:
            return None
        spec = ModuleSpec(name, cls, origin=file, is_package=is_package)  # type: ignore[arg-type]  # a class serves
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(file))
        return spec

    @staticmethod
    def create_module(_spec: object) -> None:
        """As usual."""

    @staticmethod
    def exec_module(module: "ModuleType") -> None:
        """Run the compiled code."""
        code = marshal.loads(MODULES[module.__name__][3])  # noqa: S302, F821  # our own file
        exec(code, module.__dict__)  # noqa: S102  # that is what importing is


if __name__ == "bundled":
    sys.meta_path.insert(0, Bundled)
