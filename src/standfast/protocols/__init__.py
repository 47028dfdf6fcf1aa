"""The protocols, one package a seed.

`outputs` is the Context Recovery Protocol, `context` the Agent Context File Schema, `resumption`
the Resumption Update Protocol, `checkpoints` the Recovery Contract. In each, `rules` are pure,
`records` is what the journal holds, `files` is what lies on the disk. The README of each says
where every section of its seed is done.
"""
