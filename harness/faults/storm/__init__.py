"""Many processes at once, in every way there is to write, some of them killed."""
