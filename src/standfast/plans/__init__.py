"""Plans, pure: what one says (`model`), how it is read and checked; and the door to its file."""
