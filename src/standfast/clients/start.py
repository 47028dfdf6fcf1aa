"""Where the launcher starts Python: `python -I -S start.py LIBRARIES PID`.

Without `site` there is no way to packages, so the launcher names the folder that holds apsw.
This file is compiled at every call: it stays this small.
"""

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()  # nothing lives long enough here to be collected
    sys.path[:0] = [__file__[: -len("/standfast/clients/start.py")], sys.argv[1]]

    from standfast.clients.hook import main

    os._exit(main(sys.argv[2]))  # an interpreter that is torn down in order costs a millisecond
