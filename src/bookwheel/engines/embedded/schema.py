"""The tables of the SQLite file, and how an older file comes to have them."""

from __future__ import annotations

import apsw

APPLICATION_ID = 0x424B574C
SCHEMA_VERSION = 5
FIRST_VERSION = 5
"""Older ones were never released: such an index is made anew."""

_MIGRATIONS = (
    """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE collections(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT NOT NULL, alias TEXT,
  description TEXT, version TEXT, source TEXT, language TEXT, include TEXT NOT NULL,
  exclude TEXT NOT NULL, access TEXT, redact TEXT, device INTEGER, scanned_at REAL);
CREATE TABLE documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, path TEXT NOT NULL,
  extension TEXT NOT NULL, mime TEXT NOT NULL, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
  racy INTEGER NOT NULL, digest BLOB NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  title TEXT NOT NULL, description TEXT NOT NULL, tags TEXT NOT NULL, author TEXT NOT NULL,
  date TEXT NOT NULL, source TEXT NOT NULL, url TEXT, language TEXT NOT NULL,
  words INTEGER NOT NULL, characters INTEGER NOT NULL, chunks INTEGER NOT NULL,
  rules TEXT NOT NULL, generation INTEGER NOT NULL, seal INTEGER NOT NULL,
  UNIQUE(collection, path));
CREATE TABLE tallies(
  collection INTEGER, status TEXT, extension TEXT, language TEXT, documents INTEGER NOT NULL,
  PRIMARY KEY(collection, status, extension, language)) WITHOUT ROWID;
CREATE TRIGGER tally_added AFTER INSERT ON documents BEGIN
  INSERT INTO tallies VALUES(new.collection, new.status, new.extension, new.language, 1)
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER tally_removed AFTER DELETE ON documents BEGIN
  UPDATE tallies SET documents = documents - 1 WHERE collection = old.collection
  AND status = old.status AND extension = old.extension AND language = old.language;
END;
CREATE TRIGGER tally_changed AFTER UPDATE OF status, language ON documents
WHEN old.status <> new.status OR old.language <> new.language BEGIN
  UPDATE tallies SET documents = documents - 1 WHERE collection = old.collection
  AND status = old.status AND extension = old.extension AND language = old.language;
  INSERT INTO tallies VALUES(new.collection, new.status, new.extension, new.language, 1)
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
CREATE INDEX documents_by_generation ON documents(generation);
CREATE INDEX documents_not_ok ON documents(collection, status) WHERE status <> 'ok';
CREATE TABLE texts(document INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE sections(
  document INTEGER, ordinal INTEGER, level INTEGER NOT NULL, heading TEXT NOT NULL,
  start INTEGER NOT NULL, end INTEGER NOT NULL, start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE chunks(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, trail TEXT NOT NULL,
  pointer TEXT NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE links(
  document INTEGER, ordinal INTEGER, kind TEXT NOT NULL, target TEXT NOT NULL, text TEXT NOT NULL,
  context TEXT NOT NULL, line INTEGER NOT NULL, key INTEGER, other INTEGER,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE INDEX links_by_key ON links(key) WHERE key IS NOT NULL;
CREATE INDEX links_by_other ON links(other) WHERE other IS NOT NULL;
CREATE TABLE names(
  document INTEGER, ordinal INTEGER, key INTEGER NOT NULL,
  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE INDEX names_by_key ON names(key);
CREATE TABLE places(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, label TEXT NOT NULL,
  row INTEGER NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE spans(
  document INTEGER, ordinal INTEGER, start INTEGER NOT NULL, end INTEGER NOT NULL,
  kind TEXT NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;
CREATE TABLE models(
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE vectors(
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, model INTEGER NOT NULL,
  stamp INTEGER NOT NULL, checksum INTEGER NOT NULL, vectors BLOB NOT NULL,
  UNIQUE(model, document));
CREATE INDEX vectors_by_stamp ON vectors(stamp);
CREATE TABLE dropped_vectors(
  model INTEGER, document INTEGER, stamp INTEGER NOT NULL,
  PRIMARY KEY(model, document)) WITHOUT ROWID;
CREATE INDEX dropped_vectors_by_stamp ON dropped_vectors(stamp);
CREATE TRIGGER vectors_dropped AFTER DELETE ON vectors BEGIN
  UPDATE meta SET value = value + 1 WHERE key = 'vectors';
  INSERT OR REPLACE INTO dropped_vectors
  SELECT old.model, old.document, value FROM meta WHERE key = 'vectors';
END;
CREATE TABLE removed(document INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE INDEX removed_by_generation ON removed(generation);
CREATE TABLE skipped(
  collection INTEGER, reason TEXT, extension TEXT, count INTEGER NOT NULL,
  PRIMARY KEY(collection, reason, extension)) WITHOUT ROWID;
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, folder TEXT NOT NULL,
  "full" INTEGER NOT NULL, priority INTEGER NOT NULL, state TEXT NOT NULL, asked INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', owner INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0, asked_at REAL NOT NULL, started_at REAL, finished_at REAL);
""",
)


def migrate(connection: apsw.Connection) -> None:
    """Bring an older or new database to the present schema, in one transaction."""
    version = int(connection.pragma("user_version"))
    if version == SCHEMA_VERSION:
        return
    with connection:
        for script in _MIGRATIONS[max(0, version - FIRST_VERSION + 1) :]:
            connection.execute(script)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute(
            "INSERT OR IGNORE INTO meta VALUES('generation', 0), ('vectors', 0), "
            "('id', lower(hex(randomblob(8))))"
        )
