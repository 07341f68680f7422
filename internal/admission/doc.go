// Package admission is the shell around the engine: it loads what Decide reads, has the action analysed, decides, holds
// for humans, and commits the event with everything it spends before anybody hears Allow.
//
// It is the only place where an error becomes an answer, and the answer is then Deny with a reason and, wherever the store
// still works, an event. There is no (Allow, error). Doors call Propose, Report, Resolve and Refuse; what else an Admission can
// do is in its rooms, the packages below it, each built on core, where the ports (Store, Notifier) are declared. Start with
// propose.go here; governance/resolve.go is the human side, core/challenge.go what stops an agent until a human gives a code,
// governance/verify.go the answer to it.
package admission
