"""What takes the lanes of runs on: in threads of this process (local.py)."""
