"""Tests of the server, through real clients."""
