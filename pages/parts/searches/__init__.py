"""Parts of the Searches page."""
