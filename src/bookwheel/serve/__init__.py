"""The server: assistants connect over stdio or HTTP and call the contracts' tools."""

LOG_FORMAT = "bookwheel: %(message)s"
"""How a line of the log looks, in the server and in its processes."""
