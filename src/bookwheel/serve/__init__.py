"""The server: assistants connect over stdio or HTTP and call the contracts' tools."""
