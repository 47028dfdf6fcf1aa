"""One module per verb: `configure` declares its arguments, `run` does it."""
