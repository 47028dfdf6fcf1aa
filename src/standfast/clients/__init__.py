"""Coding-agent clients: their hooks, what each version can do, how Standfast gets into them."""
