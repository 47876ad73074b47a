"""Parts of the Health page."""
