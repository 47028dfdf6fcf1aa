"""The file around the section: what others changed is taken in, what is ours is put in."""
