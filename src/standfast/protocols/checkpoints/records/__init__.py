"""What the journal holds of lanes' checkpoints."""
