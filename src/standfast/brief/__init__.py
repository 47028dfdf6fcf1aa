"""The brief: what an agent must know when it wakes up, from facts that were recorded."""
