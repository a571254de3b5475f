"""Tests of Bookwheel; the tree mirrors src/bookwheel."""
