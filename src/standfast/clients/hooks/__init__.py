"""How any client's hooks begin: a launcher, a bundle of modules, a call with a deadline."""
