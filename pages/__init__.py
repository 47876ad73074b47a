"""The pages of the app: thin readers of widgets and callers of the library."""
