"""Reads Word documents, workbooks and presentations from before 2007."""
