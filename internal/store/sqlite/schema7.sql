-- Version 7 of the store: applied once after version 6.

-- When a blob was last named by an event, to within days: what is older than all that stays may leave the store with what was
-- archived. Of blobs from before nobody knows; they count as named now.
ALTER TABLE blobs ADD COLUMN used INTEGER NOT NULL DEFAULT 0; -- unix nanoseconds
UPDATE blobs SET used = CAST(strftime('%s', 'now') AS INTEGER) * 1000000000;
