"""Power cuts for real: a filesystem on a loop device is shut down in the middle of work."""
