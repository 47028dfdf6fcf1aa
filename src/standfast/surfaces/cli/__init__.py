"""The command line: commands are loaded only when they are called."""
