"""Tests of the way from files to the index."""
