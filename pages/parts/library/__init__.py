"""Parts of the Library page."""
