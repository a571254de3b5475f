"""One file per format: bytes become a Parsed document."""

READERS_VERSION = "7"
"""Raised when a reader gives something else for the same bytes: every file is then read anew."""
