"""Tests of the engines: one suite for all, and what is peculiar to each."""
