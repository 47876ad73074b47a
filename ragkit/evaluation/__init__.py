"""Evaluation: how well searches find what people judged to be right."""
