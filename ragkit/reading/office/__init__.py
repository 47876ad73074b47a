"""Reads Word documents, workbooks and presentations."""
