"""`python -m standfast`."""

import sys

from standfast.surfaces.cli import main

sys.exit(main())
