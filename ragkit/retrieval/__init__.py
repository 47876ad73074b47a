"""Retrieval: from a question to ranked, reconstructed documents."""
