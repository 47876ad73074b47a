"""Indexes on a Qdrant server, for what one machine cannot hold.

The catalog stays the truth: any process brings the server up to a collection's version before it
searches, by changes that may be repeated and that may overtake one another (``backend.py``).
Qdrant finds candidates and counts; what a word is worth is computed here, from those counts, by the
functions of the local indexes (``indexes/bm25.py``), so that both rank alike.
"""
