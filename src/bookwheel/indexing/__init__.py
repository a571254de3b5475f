"""The indexing flow: scan, worker, prepare, pipeline, watch."""
