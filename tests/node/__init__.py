"""The Node clients that assistants are built with, against the real server."""
