"""The query flow, one step per file: interpret, retrieve, rank, run."""
