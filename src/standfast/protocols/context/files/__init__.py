"""The files of roles: found, read, written."""
