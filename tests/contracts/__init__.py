"""Tests of what each toolset takes and answers."""
