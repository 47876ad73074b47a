"""Reads PDFs."""
