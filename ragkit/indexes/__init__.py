"""Keyword and vector indexes: caches that are built from the catalog and can be thrown away."""
