"""What the journal holds of sections: triggers that fired, what was held before."""
