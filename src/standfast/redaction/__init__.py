"""Secrets are cut out of whatever leaves for a disk: `redactor` is the door."""
