"""Checks of a library and its environment; repair, backups, recovery and archives."""
