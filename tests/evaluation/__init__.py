"""Tests of evaluation, and the project's own test set."""
