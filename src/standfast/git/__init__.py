"""The one door to git: `command` is the door, each other module one thing done through it."""
