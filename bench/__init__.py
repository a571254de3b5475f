"""Benchmarks: every figure of docs/benchmarks.md, measured as ratios in one run."""
