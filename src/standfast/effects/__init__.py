"""The one door to effects: a command runs at most once, and how it ended is known.

`door.run` is what others call. A small supervisor outlives its caller and leaves an exit record;
`effect_folder` is where both meet, `orphans` finds what was left behind.
"""
