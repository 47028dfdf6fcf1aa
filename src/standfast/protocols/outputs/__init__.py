"""Whole outputs of agents: sentinels, stages, the persistence gate."""
