"""What the pages share: the opened library, session keys, theme, and pure renderers of HTML."""
