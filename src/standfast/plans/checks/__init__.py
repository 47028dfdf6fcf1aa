"""What is wrong with a plan, and what follows from it."""
