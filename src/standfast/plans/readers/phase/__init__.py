"""Reading a phase plan: swim lanes and an index, in Markdown."""
