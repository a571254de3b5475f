"""The floor of a cold search: import typer, apsw and tantivy, open both stores, ask one term.

Run by its path, so that nothing of Bookwheel is imported: `python cold.py DATABASE TERM`.
"""

import sys

import apsw
import tantivy
import typer

DATABASE, TERM = sys.argv[1:3]

connection = apsw.Connection(DATABASE, flags=apsw.SQLITE_OPEN_READONLY)
generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").get
index = tantivy.Index.open(f"{DATABASE}.words/pages")
terms = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
index.register_tokenizer("terms", terms)
searcher = index.searcher()
query = tantivy.Query.term_query(index.schema, "body", TERM)
hits = searcher.search(query, limit=10).hits
keys = searcher.fast_field_values("document", [address for _, address in hits]) if hits else []
for key in keys:
    typer.echo(connection.execute("SELECT title FROM documents WHERE id = ?", (key,)).get)
