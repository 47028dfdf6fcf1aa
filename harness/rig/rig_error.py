"""What is the rig's own fault."""


class RigError(Exception):
    """The rig itself could not do its work; what a client did wrong is for tests to say."""
