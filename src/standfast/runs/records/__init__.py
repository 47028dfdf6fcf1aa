"""What the journal holds of runs and lanes, and their log."""
