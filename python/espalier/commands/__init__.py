"""The subcommands of `espalier`, one module each."""
