"""Power loss, replayed: what was done is written down, cut off after every call, and recovered."""
