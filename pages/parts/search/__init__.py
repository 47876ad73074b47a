"""Parts of the Search page."""
