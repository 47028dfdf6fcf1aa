"""What the protocol says, pure."""
