"""The loop of a stage: look, launch what is lacking, look again, gate."""
