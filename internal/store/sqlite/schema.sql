-- Version 1 of the store. Applied once, in one transaction, to an empty database; user_version says which version a
-- database has. A later version is another file, applied after this one.

-- The log. A row is written once and never changed; the tree hashes it completes stand in the row.
CREATE TABLE entries (
  idx        INTEGER PRIMARY KEY, -- leaf number, from 0
  id         TEXT NOT NULL,       -- event id, hexadecimal
  type       TEXT NOT NULL,
  body       BLOB NOT NULL,       -- canonical JSON of the event
  hashes     BLOB NOT NULL,       -- 32 bytes per level, level 0 first
  checkpoint BLOB                 -- signed head; only in the last row of a commit
);

-- Where event ids are: eight bytes of each of 256 entries, in order. Only for looking up.
CREATE TABLE ids (
  first INTEGER PRIMARY KEY,
  notes BLOB NOT NULL
);

-- The right edge of the log and the versions of everything beside it: one row.
CREATE TABLE head (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  size       INTEGER NOT NULL,
  last       TEXT NOT NULL,
  edge       BLOB NOT NULL,
  checkpoint BLOB NOT NULL,
  version    INTEGER NOT NULL, -- moves when decisions computed before must be computed again
  revision   INTEGER NOT NULL  -- moves when anything that Standing holds changes
);
INSERT INTO head VALUES (1, 0, '', x'', x'', 1, 1);

-- Job seeds: which seed a run has and the number of its next event.
CREATE TABLE jobs (
  run  TEXT PRIMARY KEY,
  seed TEXT NOT NULL,
  next INTEGER NOT NULL
) WITHOUT ROWID;

-- Calls wait here for their second harness event and their outcome. The by_ columns are the first eight bytes of a hash,
-- so that the indexes stay small; the body decides.
CREATE TABLE calls (
  id        INTEGER PRIMARY KEY,
  by_event  INTEGER NOT NULL, -- event id of the decision
  by_action INTEGER NOT NULL, -- agent, run and action digest
  by_call   INTEGER,          -- agent, run and the harness's call id
  at        INTEGER NOT NULL, -- unix nanoseconds
  body      BLOB NOT NULL
);
CREATE INDEX calls_by_event ON calls (by_event);
CREATE INDEX calls_by_action ON calls (by_action);
CREATE INDEX calls_by_call ON calls (by_call) WHERE by_call IS NOT NULL;

-- Approval requests. The status column is the truth; the body holds the rest.
CREATE TABLE requests (
  id      TEXT PRIMARY KEY,
  status  TEXT NOT NULL,
  created INTEGER NOT NULL, -- unix nanoseconds
  expires INTEGER NOT NULL, -- unix nanoseconds
  body    BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX requests_open ON requests (status) WHERE status IN ('pending', 'approved');
CREATE INDEX requests_by_time ON requests (created);

CREATE TABLE agents (
  id   TEXT PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE operators (
  name TEXT PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
