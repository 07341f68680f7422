// Package auditlog is the format and the mathematics of Interlock's tamper-evident log: how an event becomes bytes, how
// bytes become a leaf of an RFC 6962 tree, how a signed checkpoint covers them, and how anybody checks all of it offline.
// It reads no clock, no randomness and no file; it never repairs a log and never guesses at what one said.
//
// # An event
//
// An event is one JSON object in canonical form (RFC 8785), at most 60 KB, with exactly these members:
//
//	actor_id        who caused it: an agent, an operator, or Interlock itself
//	content_hash    "sha256:" and the SHA-256 of payload's bytes
//	event_id        hexadecimal SHA-256 of job_seed ":" sequence_index ":" event_type
//	event_type      e.g. DECISION, SAFETY_BLOCK_EVENT; the names in package interlock
//	job_seed        random seed of the run the event belongs to
//	key_id          only if signed: the key, as origin "+" key hash
//	payload         an object; what it holds depends on the type (record.go)
//	prev_hash       "sha256:" and the record hash of the entry before, of whatever run; 64 zeros in the first
//	role            "agent", "operator" or "system"
//	schema          "interlock.event/v1"
//	sequence_index  number of the event in its run, from 1, without gaps
//	sig_alg         only if signed: "ed25519"
//	signature       only if signed: base64 of the signature
//	snapshot_ids    digests of what the event was computed from, e.g. the ruleset
//	trace_id        the caller's id of the call, if it has one
//	ts_recorded     wall clock, UTC, microseconds
//	ts_seeded       logical clock: 2000-01-01T00:00:00Z plus sequence_index seconds; it orders a run and tells no time
//
// Events by which people govern, safety events and alarms are signed one by one (the lists are governs and signedLately in
// event.go), over "interlock event v1", a line feed and the event without its signature member. All other events are covered by
// the checkpoint's signature.
//
// # The tree
//
// The record hash of an entry is RFC 6962's leaf hash of its event's bytes. Entries are the leaves, in the order of the
// log. Beside each entry stand the hashes it completes, level 0 first: the hash of level L and number n is in the row of
// leaf (n+1)<<L - 1.
//
// # A checkpoint
//
// Every commit ends in a checkpoint: a C2SP signed note (golang.org/x/mod/sumdb/note) whose text is the log's origin, the
// number of entries and the base64 root, a line each. The origin is the key's name. A receipt is a C2SP tlog-proof.
//
// # A copy
//
// An exported log is one JSON object per line, {"checkpoint":…,"event":…,"index":…}, with the event's exact bytes and, on
// the last entry of each commit, the checkpoint. This is a whole log of one entry, which a test verifies with the key
//
//	interlock/0101010101010101+56b8cdc2+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
//
// (wrapped here; it is one line):
//
//	{"checkpoint":"interlock/0101010101010101\n1\nESTMqQLpdRJcVmfwvryrRiN4LGdG0bjzdtS8000wN7E=\n\n— interlock/0101
//	010101010101 VrjNwiGsFctQj9fuCJUo9wBnIfQVDGs9zhtA25mDy9DtQjAAl9LJabkVm9m1cPq/Gfv6ZBA9KZEy6CqgiH0WFxoV2w0=\n","
//	event":{"actor_id":"interlock","content_hash":"sha256:453b5d8fab7b43596dc333f04fe03d02599e4c12e3e33ae8e7da4943
//	7aa110f3","event_id":"04b5d26ed6a93de3a231aca60a4e3b830803360ccd373464d9430e848c0c50fe","event_type":"MODE_CHA
//	NGE","job_seed":"seed-0001","key_id":"interlock/0101010101010101+56b8cdc2","payload":{"after":{"mode":"enforci
//	ng"},"before":{"mode":""}},"prev_hash":"sha256:000000000000000000000000000000000000000000000000000000000000000
//	0","role":"system","schema":"interlock.event/v1","sequence_index":1,"sig_alg":"ed25519","signature":"EsjnFE+Y7
//	pgNeCW9ugnl2GfngYSTH4T8VJ+VaKrqbysT3EX3PoDoieEXqjDanqLQyd9FDEldJ8y0TEfnGwuQCw==","snapshot_ids":{"ruleset":"sh
//	a256:22"},"trace_id":"","ts_recorded":"2026-05-06T07:08:09.123456Z","ts_seeded":"2000-01-01T00:00:01Z"},"index
//	":0}
//
// # An archive
//
// Old entries may leave a store for a static log (C2SP tlog-tiles), whose form tiles.go knows. Their rows stay with their
// hashes and without their content, which verification accepts where a LOG_ARCHIVE event says so (released.go).
//
// # Where to look
//
// event.go encodes and parses, seal.go places and signs, tree.go and checkpoint.go are what their names say, verify.go reads
// a whole log and diagnose.go names what was done to it, proof.go makes receipts, record.go is what payloads hold.
package auditlog
