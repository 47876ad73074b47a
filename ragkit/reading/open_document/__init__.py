"""Reads OpenDocument texts, sheets and slides."""
