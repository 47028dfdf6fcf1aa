"""The crash matrix: lanes of eight effects, killed anywhere, resumed, and counted by the effects.

`work` is what is counted, `arms` who does it, `places` and `striking` where and whom kill -9
strikes, `trial` one lane from its begin to its end, `campaign` many of them, `report` the figures.
"""
