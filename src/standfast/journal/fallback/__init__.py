"""Where facts go that could not be written at the time, and how they come in."""
