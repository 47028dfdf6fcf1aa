"""Files that show recorded facts and may be edited by others.

`face` says what one is, `look` what became of it, `merge` decides (pure), `publish` acts. A new
face is a declaration, never a copy of this.
"""
