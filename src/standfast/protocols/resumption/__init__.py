"""The resumption section: where the work is, so that any session can go on."""
