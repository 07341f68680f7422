-- Version 3 of the store: applied once after version 2.

-- What else stands beside agents, operators, requests and suppressions: challenges, grants, failed attempts.
CREATE TABLE standing (
  kind TEXT NOT NULL, -- challenge, grant or attempts
  id   TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
