"""A fourth labelled set, in other words than the third."""
