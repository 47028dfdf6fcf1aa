"""Checkpoints of lanes: how far each is, to resume or roll back."""
