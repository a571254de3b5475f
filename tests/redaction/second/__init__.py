"""A second labelled set, written without a look at the rules."""
