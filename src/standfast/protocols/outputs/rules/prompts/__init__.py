"""Prompts that others wrote: which files they ask for, and whether they ask for a sentinel.

Here they are only read. What we tell agents ourselves is `whole_output.paragraph`.
"""
