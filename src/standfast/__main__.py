"""`python -m standfast`."""

import sys

from standfast.surfaces.cli.entry import main

sys.exit(main())
