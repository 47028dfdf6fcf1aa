"""A night with the real clients: a run of Claude Code and Codex, killed again and again, counted.

`world` is where it happens, `mind` plays the models, `striking` kills, `campaign` goes through the
night, `judge` counts in the morning.
"""
