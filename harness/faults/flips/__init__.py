"""Flipped bytes: the right answer, or damage that is named and repaired."""
