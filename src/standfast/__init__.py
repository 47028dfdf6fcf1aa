"""Standfast: coding agents that survive. Importing it does nothing."""

__version__ = "0.1.0"
