"""The tables, and how an event changes the current state in them."""
