-- Version 2 of the store: applied once after version 1.

-- What runs did a moment ago, as far as rules ask for it. A row is one run; old ones are swept out when another run begins.
CREATE TABLE recent (
  run  TEXT PRIMARY KEY,
  at   INTEGER NOT NULL, -- unix nanoseconds of the newest action
  body BLOB NOT NULL     -- JSON of the actions, oldest first
) WITHOUT ROWID;

-- Standing orders by which operators silence one rule somewhere for a while. The body holds the signed whole.
CREATE TABLE suppressions (
  id   TEXT PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;
