"""Tests of the engine on a cluster that are its own."""
