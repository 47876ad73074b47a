"""What the worker does besides indexing: contexts, vectors, graphs, jobs."""
