"""Protocol files on disk: rendered from the journal, and read back where others wrote.

`face` says what a face is, `merge` decides (pure), `look` tells what became of a file,
`publish` acts. A new face is a declaration (see `status_md`), never a copy of this.
"""
