"""The embedded engine: SQLite holds the truth, tantivy the words derived from it."""
