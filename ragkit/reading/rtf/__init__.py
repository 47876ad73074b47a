"""Reads rich text files."""
