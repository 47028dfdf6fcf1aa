"""Looking at what agents wrote."""
