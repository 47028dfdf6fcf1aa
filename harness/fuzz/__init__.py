"""Every parser of outside input, with what must be true whatever the bytes are.

`make fuzz`, or `python -m harness.fuzz --seconds 60 --seed 1 json yaml`: guided by
coverage where atheris is installed, from a seed elsewhere. A parser without a target fails
tests/harness/test_fuzz.py.
"""
