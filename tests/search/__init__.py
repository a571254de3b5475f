"""Tests of the query flow."""
