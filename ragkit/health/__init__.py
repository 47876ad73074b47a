"""Whether a library is well: checks of its parts and its surroundings, and repair."""
