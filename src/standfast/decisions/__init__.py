"""Decisions, as people read and edit them: STATUS.md."""
