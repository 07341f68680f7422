package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"interlock"
)

// A Reader returns a row as it is now. One that is not there has no body and no version.
type Reader func(kind, key string) (Row, error)

// Steps returns the rows that a change writes at a time, in order, or why it can't be made now. One without a key waits for the
// id of the change's first event; one that was added to has a value and no body yet, because more may be added in the same
// transaction before it is encoded. A refusal is the change's own fault or bad luck; an error is the ledger's. read is asked
// inside the store's transaction, after the change before.
func (b Book) Steps(change *Change, at time.Time, read Reader) (rows []Row, refusal, err error) {
	if len(change.Writes)+len(change.Spends) == 0 {
		return nil, nil, nil // nothing but events, which is what most changes are
	}
	rows = make([]Row, 0, len(change.Writes)+len(change.Spends))
	for _, r := range change.Writes {
		if b.kinds[r.Kind].merge != nil && r.Body == nil && r.Value != nil {
			if rows, err = b.merged(rows, r, read); err != nil {
				break
			}
			continue
		}
		if r, err = b.written(r, at, read); err != nil {
			break
		}
		rows = append(rows, r)
	}
	for _, s := range change.Spends {
		if err != nil {
			break
		}
		var r Row
		if r, err = b.spent(s, at, read); err == nil {
			rows = append(rows, r)
		}
	}
	if err == nil {
		err = once(rows)
	}
	if refused := (refused{}); errors.As(err, &refused) {
		return nil, refused.error, nil
	}
	if tampered := (*Tampered)(nil); errors.As(err, &tampered) {
		return nil, tampered, nil
	}
	return rows, nil, err
}

// A refused error is the change's own.
type refused struct{ error }

// once refuses a change that does two things to one row: what it means would depend on their order.
func once(rows []Row) error {
	for i, r := range rows {
		if slices.ContainsFunc(rows[:i], func(o Row) bool { return o.Kind == r.Kind && o.Key == r.Key }) {
			return refused{interlock.Errorf(interlock.CodeInvalid, "change", "the change does two things to one %s", r.Kind)}
		}
	}
	return nil
}

// merged adds to the rows of a change what an addition makes of the one that is there, or of one that the same change has made.
func (b Book) merged(rows []Row, delta Row, read Reader) ([]Row, error) {
	at := slices.IndexFunc(rows, func(r Row) bool { return r.Kind == delta.Kind && r.Key == delta.Key })
	before := Row{}
	if at >= 0 {
		before = rows[at]
	} else {
		var err error
		if before, err = read(delta.Kind, delta.Key); err != nil {
			return rows, err
		}
	}
	was, err := b.Value(before)
	if err != nil {
		if b.kinds[delta.Kind].use != nil { // what was used can't be told, and is not nothing
			return rows, refused{err}
		}
		was = nil // what can't be read says nothing, and is begun again
	}
	is, err := b.kinds[delta.Kind].merge(was, delta.Value)
	if err != nil {
		return rows, refused{err}
	}
	if is == nil {
		return rows, nil
	}
	after := Row{Kind: delta.Kind, Key: delta.Key, Value: is}
	if _, err := b.About(after); err != nil {
		return rows, refused{err}
	}
	if at >= 0 {
		rows[at] = after
		return rows, nil
	}
	return append(rows, after), nil
}

// written is a row of a change as it is stored, if it may follow the one that is there.
func (b Book) written(r Row, at time.Time, read Reader) (Row, error) {
	if keyed := b.kinds[r.Kind].keyed; keyed != nil && r.Key == "" && r.Body == nil {
		if _, err := keyed(r.Value, "its event"); err != nil {
			return r, refused{err}
		}
		r.Version = 0
		return r, nil // for the store to finish, see [Book.Keyed]
	}
	if r.Body == nil && r.Value != nil {
		next, err := Put(r.Kind, r.Key, r.Value)
		if err != nil {
			return r, refused{err}
		}
		if k := b.kinds[r.Kind]; k.filed || k.same { // nobody remembers these, or they are read as they are; no need to read them now
			next.Value = r.Value
		}
		r = next
	} else {
		r.Value = nil // the body decides
	}
	if _, err := b.About(r); err != nil {
		return r, refused{interlock.Errorf(interlock.CodeInvalid, "change", "%v", err)}
	}
	r.Version = 0 // which is the store's to give
	k := b.kinds[r.Kind]
	if k.next == nil || r.Body == nil {
		return r, nil
	}
	before, err := read(r.Kind, r.Key)
	if err != nil {
		return r, err
	}
	was, err := b.Value(before)
	if known := (*interlock.Error)(nil); errors.As(err, &known) {
		return r, refused{known} // it is this row's fault, not its neighbours'
	}
	if err != nil {
		return r, err
	}
	is, err := b.Value(r)
	if err == nil {
		err = k.next(was, is, at)
	}
	if err != nil {
		return r, refused{err}
	}
	return r, nil
}

// spent is a row with less left.
func (b Book) spent(s Spend, at time.Time, read Reader) (Row, error) {
	r, err := read(s.Kind, s.Key)
	if err != nil {
		return r, err
	}
	left, met, err := b.Take(r, s, at)
	if met != nil {
		return r, refused{met}
	}
	if known := (*interlock.Error)(nil); errors.As(err, &known) {
		return r, refused{known}
	}
	return left, err
}

// moved is why a row may not follow the one that is there, where reading it again helps.
func moved(kind, why string) error {
	return fmt.Errorf("store: can't write the %s: %s: %w", kind, why, ErrConflict)
}

// requestNext lets a request be opened once, answered while it waits, and expire. That it is spent is no writer's to say.
func requestNext(was, is interlock.ApprovalRequest, there bool, now time.Time) error {
	opens := is.Status == interlock.RequestPending && is.First == nil && is.Approval == nil
	switch {
	case !there && opens:
		return nil
	case !there && is.Status == interlock.RequestApproved:
		return interlock.Errorf(interlock.CodeInvalid, "request", "a new request is pending")
	case !there:
		return interlock.Errorf(interlock.CodeNotFound, "request", "there is no request %.80q", is.ID)
	case is.Warned > was.Warned && is.Status == interlock.RequestPending:
		was.Warned = is.Warned
		return same(was, is)
	case requestStands(was) && opens && was.Ballot != nil && is.Ballot != nil && len(is.Ballot.Votes) == len(was.Ballot.Votes)+1:
		return votedNext(was, is)
	case opens:
		return moved(Request, "it exists already")
	case is.Status == interlock.RequestSettled:
		return settledNext(was, is)
	case !requestStands(was):
		return moved(Request, "it is "+string(was.Status))
	case is.Status == interlock.RequestExpired:
		was.Status = interlock.RequestExpired
		return same(was, is)
	}
	answer := is.Approval
	if answer == nil {
		answer = is.First
	}
	switch {
	case was.Status != interlock.RequestPending:
		return moved(Request, "it is "+string(was.Status))
	case !now.Before(was.Expires):
		return moved(Request, "it has expired")
	case answer == nil || answer.Verdict != interlock.Allow && answer.Verdict != interlock.Deny:
		return interlock.Errorf(interlock.CodeInvalid, "change", "an approval says allow or deny")
	case answer.Method == interlock.MethodCouncil:
		was.Approval, was.Status = is.Approval, interlock.RequestDenied
		if answer.Verdict == interlock.Allow {
			was.Status = interlock.RequestApproved
		}
		return votedNext(was, is)
	}
	return same(was.Answered(*answer), is)
}

// votedNext lets a request of the council's go on with one more vote or none, and nothing else of its ballot become another.
func votedNext(was, is interlock.ApprovalRequest) error {
	if was.Ballot == nil || is.Ballot == nil || len(is.Ballot.Votes)-len(was.Ballot.Votes) > 1 ||
		len(is.Ballot.Votes) < len(was.Ballot.Votes) {
		return moved(Request, "its votes are others than were given")
	}
	ballot := *was.Ballot
	ballot.Votes = append(slices.Clone(ballot.Votes), is.Ballot.Votes[len(ballot.Votes):]...)
	was.Ballot = &ballot
	return same(was, is)
}

// settledNext lets a question that a harness put to its own user be settled, and lets what became of the call be told after
// its run had gone on.
func settledNext(was, is interlock.ApprovalRequest) error {
	again := was.Status == interlock.RequestSettled && was.Settled != nil && was.Settled.How == interlock.SettledWentOn
	switch {
	case is.Settled == nil || !was.Harness:
		return interlock.Errorf(interlock.CodeInvalid, "change", "only what a harness asked its own user is settled there")
	case was.Status != interlock.RequestPending && !again:
		return moved(Request, "it is "+string(was.Status))
	case again && is.Settled.How == interlock.SettledWentOn:
		return moved(Request, "that is known")
	}
	was.Status, was.Settled = interlock.RequestSettled, is.Settled
	return same(was, is)
}

// same holds a request against what it should have become of the one that is there.
func same(want, is interlock.ApprovalRequest) error {
	one, err := Put(Request, want.ID, want)
	if err != nil {
		return err
	}
	other, err := Put(Request, is.ID, is)
	if err == nil && !bytes.Equal(one.Body, other.Body) {
		err = moved(Request, "it is not what it was")
	}
	return err
}

// Ended is a row that has ended.
func Ended(kind, key string) Row { return Row{Kind: kind, Key: key} }

// One takes one from what a row has left.
func One(kind, key string) []Spend { return []Spend{{Kind: kind, Key: key, Take: 1}} }

// Settings returns settings as rows, by name.
func Settings(values map[string]string) []Row {
	var rows []Row
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rows = append(rows, Row{Kind: Setting, Key: name, Value: settingBody{name, values[name]}})
	}
	return rows
}

// DefinitionOf names a tool's definition by what it is the text of and by its digest, so that the pin says which is which.
func DefinitionOf(server, tool string, digest interlock.Digest) Ref {
	return Ref{Kind: Definition, Key: PinKey(server, tool) + "\x00" + string(digest)}
}
