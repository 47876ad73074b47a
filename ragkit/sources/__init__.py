"""Sources: which files there are, and which of them have changed."""
