"""Threats that the whole program meets; docs/security.md names the rows of these tests."""
