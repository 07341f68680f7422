-- Version 9 of the store: applied once after version 8. What stands is proved from here on, see proof.go; the rows that are
-- there are given their proofs in the same transaction.

ALTER TABLE rows ADD COLUMN owner INTEGER; -- a number for whose standing the row is part of; NULL where it is nobody's
ALTER TABLE rows ADD COLUMN proof BLOB;    -- a tag over kind, key and body that only the log's key can make
CREATE INDEX rows_owner ON rows (owner, proof) WHERE owner IS NOT NULL;

-- Which proofs there are of which owners: a short tag for each of 1,024 parts of them. One row.
CREATE TABLE proofs (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  tags BLOB NOT NULL
);

-- That these are the proofs at this size of the log. It changes with every commit: a program that knows nothing of proofs, such as
-- an older one that still runs, can't commit any more.
ALTER TABLE head ADD COLUMN proved BLOB NOT NULL DEFAULT x'';
CREATE TRIGGER head_proved BEFORE UPDATE OF size ON head WHEN NEW.proved IS OLD.proved
BEGIN SELECT RAISE(ABORT, 'an older Interlock is still running; restart it'); END;
