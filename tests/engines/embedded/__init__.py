"""Tests of the embedded engine: its two stores, its lock, and what can befall them."""
