"""Which files a prompt asks for, and whether it asks for a sentinel."""
