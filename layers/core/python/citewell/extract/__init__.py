"""From an object's bytes to text with its structure."""
