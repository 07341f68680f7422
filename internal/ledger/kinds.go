package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"interlock"
)

// The kinds of rows. The names stand in stores and never change.
const (
	Agent      = "agent"
	Operator   = "operator"
	Request    = "request"    // a question to the operators, whatever has become of it
	Order      = "order"      // an operator's order that is in force until it ends, such as one that says yes in advance
	Challenge  = "challenge"  // a code that an agent owes
	Attempts   = "attempts"   // an agent's wrong codes
	Pin        = "pin"        // what is known of a tool
	Definition = "definition" // the text of a tool that was approved, or seen last
	Setting    = "setting"    // under which rules, mode and profile the log goes on
	Counter    = "counter"    // how much of something is left
	Execution  = "execution"  // what a monitored run has done so far
	Candidate  = "candidate"  // the ruleset that decides beside the one in force
	Shadow     = "shadow"     // what a candidate decided otherwise
	Call       = "call"       // how a call was decided that other events of its harness will name again
	Recent     = "recent"     // what a run did a moment ago
	Written    = "written"    // that an agent wrote a file
	Heard      = "heard"      // what a run was told, by its user and by what its calls returned
	Again      = "again"      // that a call for which a yes was used up was shown to its harness's hooks a second time
	Failed     = "failed"     // which actions of an agent failed lately, as far as a gateway carried them out
	Hold       = "hold"       // that nothing is decided under something until an operator clears it
	Signal     = "signal"     // what observers told of an agent last
	Run        = "run"        // a piece of work that an agent registered, or that was delegated to it
	RunCount   = "run_count"  // what is counted of runs: of an agent, of an orchestration, of a task
	Message    = "message"    // what one agent has sent another, until that is done with it
	Alive      = "alive"      // when an agent said last that it is there
	Checkpoint = "checkpoint" // what an agent keeps of a run, to go on from there
	Carried    = "carried"    // that a signed order was carried out, so that it counts once
	Breaker    = "breaker"    // what counts towards holding an agent, a type or all of them
	Tally      = "tally"      // how much an agent, or a type, was decided and refused a moment ago
	Usage      = "usage"      // how much of a limit somebody has used
	Rollback   = "rollback"   // that what an agent did is being undone, and how far that has come
	Commitment = "commitment" // what was decided about something, and how often otherwise
	Plan       = "plan"       // what a run is to do, step by step
	Baseline   = "baseline"   // that agents of a type have done something that can't be undone
	Settled    = "settled"    // that what an action took from limits was put right by how it ended
	Meter      = "meter"      // what a session of an agent has reported as used
	Budget     = "budget"     // the steps of a budget that people were told of
	Profile    = "profile"    // how an agent, or a type, behaves, for finding what is unusual

	RollbackStep = "rollback_step" // one action that is undone, and how that ended
	Judged       = "judged"        // what judges said of an action
	Owed         = "owed"          // that a judge is still to be asked about an action that was let through
	FirstUse     = "first_use"     // that agents of a type use a tool, or that somebody is asked whether they may

	ActionRequest = "action_request" // that somebody asks for an act of governance, and who voted how

	Memory = "memory" // a fact that agents keep

	Subscription = "subscription" // a browser in which an operator is told of requests

	Person   = "person"   // somebody of whom something may be kept, and the key that it is sealed under
	Consent  = "consent"  // what a person permits to be kept of them
	Personal = "personal" // a text with personal data that is kept with consent, sealed
)

// A Writer is who may have rows of a kind written. No matter who that is, a row is written with an event that says so.
type Writer int

// The writers. The zero value is nobody.
const (
	Nobody    Writer = iota
	ByOrder          // an operator's act, signed where it loosens
	ByAction         // what an agent proposed or answered
	ByGateway        // what a server behind the gateway showed
	ByStart          // the program, when it begins to decide
	ByFinding        // whatever finds that something is missing or another than it was, or an operator who reports it
)

// A Mark is one way to find a row besides its key. Rows under one mark have an order.
type Mark struct {
	Name string
	At   int64 // where among those under the same mark, mostly a time in nanoseconds
}

// All is the mark under which rows stand that have not ended, for what looks at every one of a kind.
const All = "all"

// Until is the mark of rows that are of no use after a time.
const Until = "until"

// Of is the mark of what concerns one agent of one principal or, without one, an agent of any principal.
func Of(agent string, principal ...string) string {
	if len(principal) == 0 {
		return "of\x00" + agent
	}
	return "of\x00" + agent + "\x00" + principal[0]
}

// By is the mark of all that an agent has ever asked, and Is of all requests that have a status.
func By(agent, principal string) string          { return "by\x00" + agent + "\x00" + principal }
func Is(status interlock.RequestStatus) string   { return "is\x00" + string(status) }
func nano(t time.Time) int64                     { return t.UnixNano() }
func under(at int64, names ...string) []Mark     { return appendMarks(nil, at, names...) }
func withAll(at int64, names ...string) []Mark   { return appendMarks(under(at, All), at, names...) }
func decode[T any](body []byte) (v T, err error) { err = json.Unmarshal(body, &v); return v, err }

func appendMarks(to []Mark, at int64, names ...string) []Mark {
	for _, name := range names {
		to = append(to, Mark{name, at})
	}
	return to
}

// About is what a store needs to know of a row.
type About struct {
	Key    string
	Marks  []Mark
	Stands bool // it is part of an [Standing]
	Binds  bool // decisions that were made before it was so must be made again
	Left   int  // what a [Spend] may take
}

// A Kind is one kind of row.
type Kind struct {
	Name   string
	Writer Writer
	Proved string // what in the log says so too, besides the proofs of all that has an owner; empty: nothing has to
	Lives  string // how long a row is in force

	body  codec
	take  func(body []byte, n int64, now time.Time) (left []byte, why string, err error)
	use   user
	next  func(before, after any, now time.Time) error   // nil: any row may follow any other; before is nil where there is none
	merge func(before, delta any) (after any, err error) // see [merging]; nil: what is written is the row itself
	swept bool                                           // rows are forgotten after the place they have under [Until]
	// that a row has ended makes decide again, as it does of what a standing holds
	ended bool
	note  bool // rows may be written without an event: they permit nothing
	most  int  // of so many rows those that are over first go; 0: as many as there are
	filed bool // one comes with most actions, see [Book.Filed]
	// what is read is what was written, so that it need not be read to be known
	same   bool
	keyed  func(value any, event string) (any, error) // its key is the id of the change's first event, where it has none yet
	stands bool                                       // rows are part of a [Standing]
	typed  reflect.Type                               // of its values; nil: they have none
	key    func(value any) string
	// see [Book.Owner]; of a body without a codec, by its key; nil: nobody's, of what is swept or filed
	owner      func(value any) string
	keyOwner   func(key string) string // see [Book.OwnerOf]
	markOwners markOwners
	// who finds nothing left to spend decides again, because what is there to read says what to do then
	again bool
}

// A user takes from rows that say what was used, or says why it can't.
type user func(before any, s Spend, now time.Time) (after any, why string)

// A codec reads the bodies of one kind.
type codec struct {
	decode func(body []byte) (any, error)
	about  func(value any) About
	stands func(value any) bool          // nil: whatever has a body does
	check  func(value any) error         // optional: whether it can be what it says
	into   func(value any, to *Standing) // nil: it is no part of a standing
}

// merging makes a merge of a function that says what an addition makes of a value, and whether that is anything new. Writing
// such a kind is handing over the addition: it is put to whatever is there inside the writer's transaction, one after the
// other, so that nobody who adds has to read first, or races with others who do.
func merging[T, D any](add func(before T, delta D) (after T, changed bool)) func(before, delta any) (any, error) {
	return func(before, delta any) (any, error) {
		more, ok := delta.(D)
		if !ok {
			return nil, interlock.Errorf(interlock.CodeInvalid, "change", "a %T can't be added to a %T", delta, *new(T))
		}
		was, _ := before.(T) // the zero value where there is none
		after, changed := add(was, more)
		if !changed {
			return nil, nil
		}
		return after, nil
	}
}

// Swept lists the kinds whose rows are forgotten once the time of their mark [Until] is over, under which alone they
// stand. Nobody is told: a decision that read one takes less time than that.
func Swept() []string {
	var kinds []string
	for _, k := range Kinds() {
		if k.swept {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// Swept reports whether rows of a kind are forgotten after a time of their own, see [Swept].
func (b Book) Swept(kind string) bool { return b.kinds[kind].swept }

// Filed reports whether rows of a kind come with most actions, so that a store keeps them where adding one costs least. They
// stand under their key and, in the order in which they were written, under two marks at most, and have no version.
func (b Book) Filed(kind string) bool { return b.kinds[kind].filed }

// Most is how many rows of a kind are kept; 0 is as many as there are.
func (b Book) Most(kind string) int { return b.kinds[kind].most }

// Noted reports whether rows of a kind may be written without an event, see [Book.Note].
func (b Book) Noted(kind string) bool { return b.kinds[kind].note }

// Note is what a row becomes that is written without an event, or why it can't be: only kinds that permit nothing are.
func (b Book) Note(before Row, change func(value any) (any, error)) (after Row, about About, err error) {
	if !b.Noted(before.Kind) {
		return before, about, fmt.Errorf("ledger: a %s is not written without an event", before.Kind)
	}
	was, err := b.Value(before)
	if err != nil {
		was = nil // a note that can't be read says nothing, and is written again
	}
	now, err := change(was)
	if err != nil || now == nil {
		return before, about, err
	}
	if after, err = Put(before.Kind, before.Key, now); err == nil {
		about, err = b.About(after)
	}
	return after, about, err
}

// A Book finds kinds by their name. The zero value knows none.
type Book struct{ kinds map[string]Kind }

// NewBook returns a book of every kind.
func NewBook() Book {
	b := Book{kinds: map[string]Kind{}}
	for _, k := range Kinds() {
		b.kinds[k.Name] = k
	}
	return b
}

// Value is what the body of a row says, or why it can't be true. A kind without a codec has no value but its bytes.
func (b Book) Value(r Row) (any, error) {
	k := b.kinds[r.Kind]
	if r.Value != nil || r.Body == nil || k.body.decode == nil {
		return r.Value, nil
	}
	value, err := k.body.decode(r.Body)
	if err == nil && k.body.check != nil {
		err = k.body.check(value)
	}
	if err != nil {
		return nil, fmt.Errorf("decode a %s: %w", r.Kind, err)
	}
	return value, nil
}

// About says what a store needs to know of a row. A row that has ended is under no mark and binds: it was there before.
func (b Book) About(r Row) (About, error) {
	k, known := b.kinds[r.Kind]
	switch {
	case !known:
		return About{}, fmt.Errorf("ledger: there is no kind %q", r.Kind)
	case r.Key == "":
		return About{}, interlock.Errorf(interlock.CodeInvalid, r.Kind, "a %s has a name", r.Kind)
	case r.Body == nil && r.Value == nil:
		return About{Key: r.Key, Binds: k.body.into != nil || k.ended}, nil
	case k.body.decode == nil:
		return About{Key: r.Key}, nil
	}
	value, err := r.Value, error(nil)
	if value == nil {
		value, err = k.body.decode(r.Body)
	}
	if err != nil {
		return About{}, fmt.Errorf("decode a %s: %w", r.Kind, err)
	}
	about := k.body.about(value)
	about.Stands = k.body.into != nil && (k.body.stands == nil || k.body.stands(value))
	if about.Key != r.Key {
		return About{}, fmt.Errorf("ledger: the %s under %q says that it is %q", r.Kind, r.Key, about.Key)
	}
	return about, nil
}

// Named is About of a row whose key only its body says.
func (b Book) Named(r Row) (About, error) {
	k := b.kinds[r.Kind]
	value, err := b.Value(r)
	if err != nil || value == nil {
		return About{}, err
	}
	return k.body.about(value), nil
}

// Into puts a row into a standing, unless it has ended.
func (b Book) Into(r Row, to *Standing) error {
	k := b.kinds[r.Kind]
	if k.body.into == nil {
		return nil
	}
	value, err := b.Value(r)
	if err != nil {
		return err
	}
	if value == nil || k.body.stands != nil && !k.body.stands(value) {
		return nil
	}
	k.body.into(value, to)
	return nil
}

// Take spends from a row. met says why it can't, and what is there.
func (b Book) Take(r Row, s Spend, now time.Time) (left Row, met *Met, err error) {
	k := b.kinds[s.Kind]
	if k.take == nil && k.use == nil {
		return r, nil, fmt.Errorf("ledger: nothing can be taken from a %s", s.Kind)
	}
	if s.Take < 1 {
		return r, nil, fmt.Errorf("ledger: %d is nothing to take", s.Take)
	}
	why := "there is none"
	if k.use != nil {
		was, err := b.Value(r)
		if err != nil {
			return r, nil, err
		}
		left = Row{Kind: s.Kind, Key: s.Key}
		left.Value, why = k.use(was, s, now)
	} else if r.Body != nil {
		var body []byte
		if body, why, err = k.take(r.Body, s.Take, now); err != nil {
			return r, nil, err
		}
		left = Row{Kind: s.Kind, Key: s.Key, Version: r.Version, Body: body}
	}
	if why != "" {
		return r, &Met{Spend: s, Row: r, Why: why, again: k.again}, nil
	}
	return left, nil, nil
}

// A Met is what a spend met that found too little: the row as it is, without a body if there is none. It is an error of
// commit's, and the store has written nothing of that change. Where what is left says what to do instead, it wraps
// [ErrConflict] and the decision is made again; otherwise it is for the caller to turn it into a finding.
type Met struct {
	Spend Spend
	Row   Row
	Why   string
	again bool
}

// Error says what was to be taken and why it can't.
func (m *Met) Error() string {
	return fmt.Sprintf("can't take %d from the %s: %s", m.Spend.Take, m.Spend.Kind, m.Why)
}

// Unwrap is [ErrConflict] or nothing.
func (m *Met) Unwrap() error {
	if m.again {
		return ErrConflict
	}
	return nil
}
