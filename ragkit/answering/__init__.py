"""Answers to a question: sentences of the documents themselves, or written by a local model."""
