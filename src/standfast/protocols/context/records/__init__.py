"""What the journal holds of roles and their states."""
