-- Version 4 of the store: applied once after version 3.

-- Tools of the servers behind the gateway, and the servers themselves, whose tool is ''. What decisions read is the body; the
-- texts are for people, who compare what was approved with what was seen last.
CREATE TABLE pins (
  server   TEXT NOT NULL,
  tool     TEXT NOT NULL,
  body     BLOB NOT NULL,
  approved BLOB, -- the definition that was approved
  seen     BLOB, -- the one seen last, if it is another
  PRIMARY KEY (server, tool)
);

-- Who asked: what one agent may ask of its operators is bounded, and counting read every request of the last hour.
ALTER TABLE requests ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN principal TEXT NOT NULL DEFAULT '';
UPDATE requests SET agent = coalesce(json_extract(CAST(body AS TEXT), '$.requester.agent'), ''),
  principal = coalesce(json_extract(CAST(body AS TEXT), '$.requester.principal'), '');
CREATE INDEX requests_by_agent ON requests (agent, principal, created);

-- Entries of the types there are few of. Most of a log are decisions and outcomes, which are found without and whose
-- commits must not pay for it.
CREATE INDEX entries_by_type ON entries (type) WHERE type NOT IN ('DECISION', 'OUTCOME');
