"""ragkit: a private search engine for a person's own documents."""

__version__ = "0.1.0"
