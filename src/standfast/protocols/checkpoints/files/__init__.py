"""The face that shows them: checkpoints.json."""
