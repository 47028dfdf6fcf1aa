"""What a run and a lane do next, pure."""
