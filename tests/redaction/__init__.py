"""Tests of what is redacted, on a labelled set that is made anew at each run."""
