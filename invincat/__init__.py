"""Governed, versioned memory for AI coding assistants, kept in the user's own git."""

__version__ = "0.1.0"
