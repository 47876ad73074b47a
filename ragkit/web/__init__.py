"""Web search, off by default: only a few words leave this machine, for one host."""
