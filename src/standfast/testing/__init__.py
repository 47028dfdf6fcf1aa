"""Published with the package: what shows that the promises hold, for our tests and for yours."""
