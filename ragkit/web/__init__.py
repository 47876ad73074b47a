"""Web search, off by default: what leaves this machine is a few words, to one host."""
