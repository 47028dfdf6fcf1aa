"""Published with the package: an agent that follows a script, and the run that `demo` shows."""
