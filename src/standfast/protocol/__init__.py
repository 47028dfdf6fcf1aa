"""Pure rules, one module per seed: no files, no clock, no processes."""
