"""One writer of the storm: appends facts and acknowledges each on stdout, until it is killed.

`python -m standfast.testing.writer FOLDER NAME FROM TO`. A line on stdout is written only
after the journal said "recorded": whatever was printed must be found later.
"""

from __future__ import annotations

import os
import sys

from standfast.journal.author import Author
from standfast.journal.store import Journal


def main(folder: str, name: str, first: int, last: int) -> None:
    """Append the facts *first* to *last*, each with an id that must have no gap."""
    journal = Journal(folder, lock_timeout_s=60)
    author = Author("writer", session=name)
    for number in range(first, last + 1):
        with journal.writing() as tx:
            identity = tx.allot("ST")
            tx.append("storm.wrote", {"id": identity, "number": number}, author)
        os.write(1, b"%d\n" % number)
    journal.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
