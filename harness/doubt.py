"""When the harness cannot tell: it doubts itself, not the product."""


class Doubt(AssertionError):
    """What was tried proves nothing, this time: once more, on a machine that has time."""
