"""One of many processes that move the same role: `python lifecycle_racers.py FOLDER MOVE SEED`.

It waits until its stdin ends, so that all begin at once, and prints how many moves it got.
"""

import random
import sys

from standfast.errors.base import IllegalMove
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.journal.transaction import Writing
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules.lifecycle import MOVES

ROLE = "oosh-expert"
ROUNDS = 20


def main(folder: str, after: str, seed: int) -> None:
    dice, journal = random.Random(seed), Journal(folder, lock_timeout_s=60)
    sys.stdin.read()
    got = 0
    for _ in range(ROUNDS if after == "any" else 1):
        try:
            with journal.writing() as tx:
                if after == "any":
                    at_random(tx, dice)
                else:
                    lifecycle_records.move(tx, ROLE, after, "racer", USER)
        except IllegalMove:
            continue
        got += 1
    journal.close()
    print(got)


def at_random(tx: Writing, dice: random.Random) -> None:
    chance, state = dice.random(), dice.choice(list(MOVES))
    if chance < 0.5:
        lifecycle_records.move(tx, ROLE, state, "racer", USER)
    elif chance < 0.75:
        lifecycle_records.save(tx, ROLE, "racer", USER, passes=dice.random() < 0.5)
    else:
        lifecycle_records.walk(tx, ROLE, state, "racer", USER)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
