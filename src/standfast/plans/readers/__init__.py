"""Reading plans as people and models write them."""
