"""Pure functions on strings: words, headings, metadata, chunks, links, snippets."""
