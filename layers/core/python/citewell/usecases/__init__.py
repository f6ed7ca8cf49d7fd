"""What Citewell does, one module a use case."""
