"""What the pages share: the opened library, session keys, theme, and safe markup."""
