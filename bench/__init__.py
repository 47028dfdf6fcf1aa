"""What the journal costs beside what people use instead; `python -m bench` measures it.

All contenders get the same records on the same disk, in small turns one after another, so that
a slow second hits everybody alike. Ratios are the result; absolute figures belong to a machine.
"""
