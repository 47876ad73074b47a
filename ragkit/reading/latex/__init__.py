"""Reads LaTeX files."""
