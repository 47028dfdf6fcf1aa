"""What the journal holds of launches."""
