"""`python -m harness.model`: many steps, and how fast they were."""

from __future__ import annotations

import argparse
import sys
import time

from harness.model.run import run_model


def main() -> int:
    """Run the model and print its one line."""
    parser = argparse.ArgumentParser(prog="standfast-model", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10_000)
    options = parser.parse_args()
    began = time.monotonic()
    taken = run_model(options.seed, options.steps)
    minute = taken / (time.monotonic() - began) * 60
    print(f"seed {options.seed}: {taken:,} steps, {minute:,.0f} a minute, every promise kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
