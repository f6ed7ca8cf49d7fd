"""`python -m eval <command>`: one module a command, each with ``add_arguments(parser)`` and ``main(options)``."""
