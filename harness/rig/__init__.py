"""The real clients, driven against a model of our own: what it received is what a model was shown.

`clients` installs a pinned version, `model` plays the model from a script, `claude` and
`terminal` drive the program, `scenario` reads and plays a whole story from a file.
"""
