"""Indexing: everything that writes to a library."""
