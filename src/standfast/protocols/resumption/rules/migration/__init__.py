"""Sections of other shapes, read as they were meant."""
