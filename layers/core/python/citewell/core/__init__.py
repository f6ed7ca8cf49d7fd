"""The rules of the product. Standard library only: no clock, no randomness, no environment, no logger."""
