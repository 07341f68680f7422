-- Version 10 of the store: applied once after version 9. Everything beside the log is proved from here on, not what stands alone;
-- what is there is given its proofs in the same transaction, as far as version 9 believed it.

-- What stands for a while only. It is found under a number made of kind and key, so that what is proved together lies together.
-- Where the runs of the log are in their sequences stands here as well, under the kind "run".
ALTER TABLE passing RENAME TO passed;
CREATE TABLE passing (
  owner INTEGER PRIMARY KEY, -- a hash of kind and key
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  until INTEGER NOT NULL,    -- unix nanoseconds after which it is of no use
  proof BLOB NOT NULL,       -- a tag over all of the row that only the log's key can make
  body  BLOB NOT NULL
);

ALTER TABLE ids ADD COLUMN proof BLOB;   -- a tag over the row
ALTER TABLE calls ADD COLUMN proof BLOB; -- a tag over the row
ALTER TABLE blobs ADD COLUMN proof BLOB; -- a tag over the row but its body, which its digest proves

-- What says that all of this, and the versions beside it, are those at this size of the log. It changes with every commit: a program
-- that knows nothing of it, such as an older one that still runs, can't commit any more.
ALTER TABLE head ADD COLUMN tag BLOB NOT NULL DEFAULT x'';
ALTER TABLE head ADD COLUMN passing BLOB NOT NULL DEFAULT x''; -- a short tag for each of 256 parts of what passes
ALTER TABLE head ADD COLUMN sums BLOB NOT NULL DEFAULT x'';    -- over all calls and all blobs, under a mask
DROP TRIGGER IF EXISTS head_proved;
CREATE TRIGGER head_proved BEFORE UPDATE OF size, proved ON head WHEN NEW.tag IS OLD.tag
BEGIN SELECT RAISE(ABORT, 'an older Interlock is still running; restart it'); END;
