"""Claude Code: what its hooks tell, what its versions know, where its settings are."""
