"""What the worker does beside indexing: contexts, vectors, graphs, jobs."""
