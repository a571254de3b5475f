"""Tests of what keeps files and readers safe."""
