"""The one door to processes: starting, knowing and ending them."""
