"""Work that the machine leads: stages now, lanes and plans to come."""
