"""The harness that tries to lose our data: every later part of Standfast is run through it.

`acts` lists everything that writes, `worlds` prepares what it writes into, `judge` says what was
lost. `sweep` fails every system call of every act, `replay` rebuilds what a power cut could leave,
`cuts` cuts for real, `writers`, `flips` and `surroundings` do the rest, and `canaries` plants bugs
to show that all of it works. `make faults` runs everything; `make test` runs a slice.
"""
