"""What the figures are measured against: the same work with the bare libraries."""
