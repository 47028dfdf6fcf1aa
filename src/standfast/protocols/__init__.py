"""The protocols, one package a seed.

In each, `rules` are pure, `records` is what the journal holds, `files` is what lies on the disk.
The README of each says where every section of its seed is done.
"""
