"""Formats of files, pure: strict JSON and YAML, edits of one span, Markdown, schemas."""
