"""The same lane by others, each as its documentation says; they need the group `matrix`."""
