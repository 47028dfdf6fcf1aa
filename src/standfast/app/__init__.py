"""What can be asked for, whatever the surface: so far, which faces there are."""
