"""Where the launcher starts Python: `python -I -S start.py LIBRARIES PID BUNDLE`.

Without `site` there is no way to packages, so the launcher names the folder that holds apsw.
The bundle brings what else is needed; without it everything is found as usual. This file is
compiled at every call: it stays this small.
"""

import gc
import marshal
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER

BEGIN = "standfast.clients.hooks.deadline"

if __name__ == "__main__":
    gc.disable()  # nothing lives long enough here to be collected
    sys.path[:0] = [__file__[: -len("/standfast/clients/start.py")], sys.argv[1]]
    try:
        with open(sys.argv[3], "rb") as file:
            data = file.read()
        if data.startswith(MAGIC_NUMBER):  # made by this very Python
            finder, modules = marshal.loads(data[len(MAGIC_NUMBER) :])  # noqa: S302  # our own file
            if BEGIN in modules:  # made by this very Standfast, or one with the same homes
                exec(finder, {"MODULES": modules, "__name__": "bundled"})  # noqa: S102
    except (OSError, ValueError, EOFError, TypeError):
        pass

    from standfast.clients.hooks.deadline import main

    os._exit(main(sys.argv[2]))  # an interpreter that is torn down in order costs a millisecond
