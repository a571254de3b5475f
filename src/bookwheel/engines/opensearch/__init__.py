"""The engine for more than one machine: a library in the indices of an OpenSearch cluster."""
