"""Embedders and language models: the only code that talks to a model."""
