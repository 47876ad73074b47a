"""ragkit's search in the frameworks of others; each module imports the one that it is named for."""
