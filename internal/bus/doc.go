// Package bus will carry proposals, permits and results between a front end, the gates and the executors over NATS, in
// accounts of their own, every message signed, addressed, numbered and with an end to its validity, in both directions.
//
// It must never deliver a message it could not verify, and never one that had been delivered before.
//
// Nothing is here yet. All parts of Interlock run in one process, so there are no messages to forge.
package bus
