"""A model of the journal and its face: anything happens in any order, and the promises hold.

`run_model(seed, steps)` draws what happens from a seed; the tests let Hypothesis draw it, which
makes a failure small. `python -m harness.model --seed 1 --steps 10000` runs it long.
"""
