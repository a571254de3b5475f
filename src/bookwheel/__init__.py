"""Bookwheel: a document search server for AI assistants."""

__version__ = "0.1.0.dev0"
