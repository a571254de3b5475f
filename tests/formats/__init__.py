"""Tests of the formats, one file per format."""
