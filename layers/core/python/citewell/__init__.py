"""Citewell: answers from a company's own documents, with every sentence cited."""
