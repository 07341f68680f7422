-- Version 8 of the store: applied once after version 7, whose rows move here in the same transaction.

-- What stands for a while only: rows of the kinds that are forgotten after a time of their own. Many actions write one, and no
-- decision compares them, so that they have no version and are found under their key or by when they are over.
CREATE TABLE passing (
  id    INTEGER PRIMARY KEY,
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  until INTEGER NOT NULL, -- unix nanoseconds after which it is of no use
  body  BLOB NOT NULL,
  UNIQUE (kind, key)
);
