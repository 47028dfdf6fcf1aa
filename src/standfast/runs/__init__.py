"""Work that the machine leads: a plan's lanes, taken to merged work."""
