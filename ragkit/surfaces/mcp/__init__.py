"""The Model Context Protocol for agents, over standard input and output and over HTTP."""
