"""The HTTP API: what the library can do, for programs, as the values that ``--json`` prints."""
