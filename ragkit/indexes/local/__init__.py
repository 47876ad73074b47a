"""The local backend: FAISS and bm25s over generations of files, caches of the catalog."""
