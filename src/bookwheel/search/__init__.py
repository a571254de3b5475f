"""The query flow, one step per file: interpret, plan, correct, rank, show; run joins them."""
