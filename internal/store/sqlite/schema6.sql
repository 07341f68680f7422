-- Version 6 of the store: applied once after version 5, whose rows move here in the same transaction.

-- What stands beside the log, of every kind that package ledger knows. A row is never deleted: one that has ended has no body
-- any more, so that whoever had read it notices.
CREATE TABLE rows (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL,
  version INTEGER NOT NULL, -- of the ledger when it last changed in a way that decisions must notice; 0: never
  body    BLOB,
  UNIQUE (kind, key)
);
CREATE INDEX rows_changed ON rows (version) WHERE version > 0;

-- Where rows are found besides their keys. The rows under one mark have an order, mostly a time in unix nanoseconds.
CREATE TABLE marks (
  kind TEXT NOT NULL,
  mark TEXT NOT NULL,
  at   INTEGER NOT NULL,
  row  INTEGER NOT NULL,
  PRIMARY KEY (kind, mark, at, row)
) WITHOUT ROWID;
