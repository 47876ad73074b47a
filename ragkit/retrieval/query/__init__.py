"""Understanding a query: its filters, what it means, its words, and what it may find."""
