"""The command line, one module a command or a group of them; ``app.COMMANDS`` lists all."""
