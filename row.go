package interlock

// A Row is one thing that stands in the ledger beside the log: an agent, a request, an operator's order. What its body
// means is its kind's matter, see package ledger; a store keeps it and compares its version.
type Row struct {
	Kind    string
	Key     string // within the kind
	Version int64  // of the ledger when it last changed in a way that decisions made before must notice; 0: never
	Body    []byte // nil once it has ended: the row stays, so that whoever has read it notices
	Value   any    // what the body says, where it was loaded; nobody changes it
}

// A Ref names rows that something was computed from: the one under a key of its kind, or all that stand under a mark. It
// may name what is not there, and then it is noticed when it comes.
type Ref struct {
	Kind string
	Key  string
	Mark string // where there is no key
}

// A Spend takes from what a row has left, if it has as much: one call of an approval, one of a grant, one of a counter. A
// store decides it inside its own transaction, after the change before and before the change after, so that many who spend
// from one row don't race: whoever finds too little is told what is there, and the others go on.
type Spend struct {
	Kind string
	Key  string
	Take int
}
