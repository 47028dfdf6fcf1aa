"""Rebuilding a damaged journal from what is left: look, decide, rebuild, say what was lost."""
