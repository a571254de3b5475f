"""Where documents, terms and vectors are kept: one interface, one folder per engine."""
