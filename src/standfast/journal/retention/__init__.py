"""Letting old events go: what is too old, dropping it, and what is left of it."""
