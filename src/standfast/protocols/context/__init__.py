"""The context file and the lifecycle of an agent's role."""
