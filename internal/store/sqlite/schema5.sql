-- Version 5 of the store: applied once after version 4.

-- What a decision was made from, packed, and sealed where it holds what may not be read as it stands. The event names it by
-- digest; it can be taken away when its time has passed, and the log stays whole.
ALTER TABLE entries ADD COLUMN inputs BLOB;

-- What many events were made from: snapshots, texts of files and rulesets, each once, under the digest that events name.
CREATE TABLE blobs (
  id     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  at     INTEGER NOT NULL, -- unix nanoseconds of the first commit that named it
  body   BLOB NOT NULL     -- packed
);
