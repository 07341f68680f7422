CREATE TRIGGER head_proved BEFORE UPDATE OF size, proved ON head WHEN NEW.tag IS OLD.tag
BEGIN SELECT RAISE(ABORT, 'an older Interlock is still running; restart it'); END;

CREATE TABLE blobs (
  id     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  at     INTEGER NOT NULL, -- unix nanoseconds of the first commit that named it
  body   BLOB NOT NULL     -- packed
, used INTEGER NOT NULL DEFAULT 0, proof BLOB);

CREATE TABLE calls (
  id        INTEGER PRIMARY KEY,
  by_event  INTEGER NOT NULL, -- event id of the decision
  by_action INTEGER NOT NULL, -- agent, run and action digest
  by_call   INTEGER,          -- agent, run and the harness's call id
  at        INTEGER NOT NULL, -- unix nanoseconds
  body      BLOB NOT NULL
, proof BLOB);

CREATE TABLE entries (
  idx        INTEGER PRIMARY KEY, -- leaf number, from 0
  id         TEXT NOT NULL,       -- event id, hexadecimal
  type       TEXT NOT NULL,
  body       BLOB NOT NULL,       -- canonical JSON of the event
  hashes     BLOB NOT NULL,       -- 32 bytes per level, level 0 first
  checkpoint BLOB                 -- signed head; only in the last row of a commit
, inputs BLOB);

CREATE TABLE head (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  size       INTEGER NOT NULL,
  last       TEXT NOT NULL,
  edge       BLOB NOT NULL,
  checkpoint BLOB NOT NULL,
  version    INTEGER NOT NULL, -- moves when decisions computed before must be computed again
  revision   INTEGER NOT NULL  -- moves when anything that Standing holds changes
, proved BLOB NOT NULL DEFAULT x'', tag BLOB NOT NULL DEFAULT x'', passing BLOB NOT NULL DEFAULT x'', sums BLOB NOT NULL DEFAULT x'');

CREATE TABLE ids (
  first INTEGER PRIMARY KEY,
  notes BLOB NOT NULL
, proof BLOB);

CREATE TABLE marks (
  kind TEXT NOT NULL,
  mark TEXT NOT NULL,
  at   INTEGER NOT NULL,
  row  INTEGER NOT NULL,
  PRIMARY KEY (kind, mark, at, row)
) WITHOUT ROWID;

CREATE TABLE passing (
  owner INTEGER PRIMARY KEY, -- a hash of kind and key
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  until INTEGER NOT NULL,    -- unix nanoseconds after which it is of no use
  proof BLOB NOT NULL,       -- a tag over all of the row that only the log's key can make
  body  BLOB NOT NULL
);

CREATE TABLE proofs (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  tags BLOB NOT NULL
);

CREATE TABLE rows (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL,
  version INTEGER NOT NULL, -- of the ledger when it last changed in a way that decisions must notice; 0: never
  body    BLOB, owner INTEGER, proof BLOB,
  UNIQUE (kind, key)
);

CREATE INDEX calls_by_action ON calls (by_action);

CREATE INDEX calls_by_call ON calls (by_call) WHERE by_call IS NOT NULL;

CREATE INDEX calls_by_event ON calls (by_event);

CREATE INDEX entries_by_type ON entries (type) WHERE type NOT IN ('DECISION', 'OUTCOME');

CREATE INDEX rows_changed ON rows (version) WHERE version > 0;

CREATE INDEX rows_owner ON rows (owner, proof) WHERE owner IS NOT NULL;
