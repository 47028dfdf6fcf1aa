"""What can go wrong, one class a cause: each says what to look at next."""
