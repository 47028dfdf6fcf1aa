"""What tries to break Standfast, beside the product: never installed with it.

`rig` drives the real clients against a scripted model, `model` tries journal and face with anything
in any order, `fuzz` every parser; `faults` tries to lose data; `matrix` and `night` kill lanes and
runs anywhere and count what happened twice; `storm` lets many write at once.
"""
