"""Tests of the models that turn text into vectors."""
