"""A search cluster of two nodes on this machine, for the tests that need a real one."""
