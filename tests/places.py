"""Where the repository and the tests' own folder are, for tests in any folder below it."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
