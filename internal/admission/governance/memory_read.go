package governance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/memory"
)

// The bounds of what is answered to a search.
const (
	factsFound = 20
	maxFound   = 100
	maxWords   = 200 // bytes of a query
)

// hiddenIn says of a version whether anything that it derives from is quarantined or was taken back.
func hiddenIn(standing *ledger.Standing) func(memory.Version) bool {
	cuts := standing.Cuts()
	return func(v memory.Version) bool { return memory.Hidden(v, cuts) }
}

// GetFact answers what is kept under a key: the stable fact first, then the episodic one. What derives from a quarantined source, and
// what is over, is not there.
func (a *Governance) GetFact(ctx context.Context, by interlock.Requester, key string) (memory.Reply, error) {
	if err := a.remembers(by); err != nil {
		return memory.Reply{}, err
	}
	if !memory.ValidKey(key) {
		return a.notKept(ctx, by, memory.InvalidKey, memory.KeyForm), nil
	}
	holder := a.holder(by, key)
	standing, why, err := a.reading(ctx, by, core.Key(ledger.Memory, memory.Place(memory.Semantic, holder, key)),
		core.Key(ledger.Memory, memory.Place(memory.Episodic, holder, key)))
	if err != nil || why != "" {
		return a.refusedRead(ctx, by, why, err)
	}
	reply := memory.Reply{Outcome: memory.OK}
	for _, store := range []string{memory.Semantic, memory.Episodic} {
		f, _ := standing.Fact(store, holder, key)
		if v, there := f.At(a.Config.Now(), hiddenIn(&standing)); there {
			one, err := a.answered(ctx, by, f, v)
			if err != nil {
				return memory.Reply{}, err
			}
			reply.Facts = append(reply.Facts, one)
		}
	}
	if len(reply.Facts) == 0 {
		return memory.Reply{Outcome: memory.NotFound, Message: "nothing is kept under this key"}, nil
	}
	return reply, nil
}

// SearchFacts answers the facts that hold every word of a query, of the agent's own and of those that are shared: stable facts first,
// then the newest. It looks at one after the other, of which there are so many and no more.
func (a *Governance) SearchFacts(ctx context.Context, by interlock.Requester, q memory.Query) (memory.Reply, error) {
	if err := a.remembers(by); err != nil {
		return memory.Reply{}, err
	}
	if len(q.Query) > maxWords || q.Limit < 0 || q.Limit > maxFound {
		return memory.Reply{}, interlock.Errorf(interlock.CodeInvalid, "/query", "has at most %d bytes, and asks for at most %d facts", maxWords,
			maxFound)
	}
	standing, why, err := a.reading(ctx, by)
	if err != nil || why != "" {
		return a.refusedRead(ctx, by, why, err)
	}
	most, hidden := cmp.Or(q.Limit, factsFound), hiddenIn(&standing)
	reply := memory.Reply{Outcome: memory.OK}
	for _, store := range []string{memory.Semantic, memory.Episodic} {
		for _, holder := range []string{by.Agent, ""} {
			err := a.eachFact(ctx, store, holder, func(f memory.Fact) (bool, error) {
				v, there := f.At(a.Config.Now(), hidden)
				if !there || a.holder(by, f.Key) != holder || !memory.Matches(q.Query, f.Key, v.Value) {
					return true, nil
				}
				one, err := a.answered(ctx, by, f, v)
				if one.Withheld && !memory.Matches(q.Query, f.Key, one.Value) {
					return true, err // nobody finds out by searching what they may not read
				}
				reply.Facts = append(reply.Facts, one)
				return len(reply.Facts) < most, err
			})
			if err != nil || len(reply.Facts) == most {
				return reply, err
			}
		}
	}
	return reply, nil
}

// eachFact visits the facts of a holder in a store, the newest first, until visit has enough.
func (a *Governance) eachFact(ctx context.Context, store, holder string, visit func(memory.Fact) (more bool, err error)) error {
	for span := ledger.Before(-1, core.PageRows); ; {
		rows, next, err := a.Config.Store.Scan(ctx, core.Under(ledger.Memory, ledger.FactsIn(store, holder)), span)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if f, is := row.Value.(memory.Fact); is {
				if more, err := visit(f); err != nil || !more {
					return err
				}
			}
		}
		if span.After = next; next == (ledger.Place{}) {
			return nil
		}
	}
}

// reading loads what an agent's reading is made from, and says why it may not read.
func (a *Governance) reading(ctx context.Context, by interlock.Requester, more ...ledger.Ref) (ledger.Standing, string, error) {
	refs, err := a.overAgent(ctx, by)
	if err != nil {
		return ledger.Standing{}, "", err
	}
	standing, err := a.Ground(ctx, slices.Concat(refs, more)...)
	if err != nil {
		return standing, "", err
	}
	return standing, a.barred(&standing, by, false), nil
}

func (a *Governance) refusedRead(ctx context.Context, by interlock.Requester, why string, err error) (memory.Reply, error) {
	if err != nil {
		return memory.Reply{}, err
	}
	return a.notKept(ctx, by, memory.PermissionDenied, why), nil
}

// answered is a fact as an agent may read it: past the classifier of what tools return, personal data only with consent, and heard, so
// that a run which goes on from a tainted fact does not lose where that is from.
func (a *Governance) answered(ctx context.Context, by interlock.Requester, f memory.Fact, v memory.Version) (memory.Told, error) {
	value, permits, err := a.opened(ctx, by, v)
	if err != nil {
		return memory.Told{}, err
	}
	told := memory.Told{Store: f.Store, Key: f.Key, Shared: f.Holder == "", ID: v.ID, Value: value, Agent: v.Agent,
		Source: v.Source, Taint: v.Taint, Number: f.Number, At: v.At, Until: v.Until, Request: v.Request}
	if v.Agent == by.Agent {
		told.Run = v.Run // whoever chose a name for a run says nothing to other agents by it
	}
	switch {
	case !permits:
		told.Value, told.Withheld = classify.Redacted, true
	case len(v.Personal) == 0: // what somebody agreed to is answered to whom they agreed to
		found := classify.Text(a.Config.Memory.Shown, value)
		if found.Classification == classify.Pass {
			break
		}
		told.Value, told.Withheld = found.Shown, true
		s := messages.Screening{Requester: by, Where: "fact", Text: value}
		s.Take(value, found)
		if _, err := a.Screened(ctx, s); err != nil {
			return memory.Told{}, err
		}
	}
	if len(v.Taint) == 0 {
		return told, nil
	}
	return told, a.Runs.HearResult(ctx, interlock.Proposal{Requester: by, Action: interlock.Action{Kind: interlock.KindTool,
		Tool: heardFact + v.ID}}, told.Value)
}

// A Facts reads what is kept, for people: a store, or an Admission.
type Facts interface {
	core.Ledger
	Load(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
}

// A Kept is a fact as people see it.
type Kept struct {
	memory.Fact
	Target string // its key, and whose it is where it is not shared
	State  string // answered, quarantined, taken back, waits or over
	Shows  memory.Version
}

// What becomes of facts, for people.
const (
	factAnswered    = "answered"
	factQuarantined = "quarantined"
	factTaken       = "taken back"
	factWaits       = "waits"
	factOver        = "over"
)

// FactsOf lists every fact that is kept, by its name, with what an agent that asks for it would be answered, and the sem_snapshot_hash
// over the stable ones that are answered.
func FactsOf(ctx context.Context, from Facts, now time.Time) (list []Kept, hash string, err error) {
	return factsAfter(ctx, from, now, nil)
}

// factsAfter is FactsOf as it will be once a change has written its rows.
func factsAfter(ctx context.Context, from Facts, now time.Time, writes []ledger.Row) (list []Kept, hash string, err error) {
	rows, _, err := from.Load(ctx, core.Under(ledger.Hold, ledger.MemoryHolds))
	if err != nil {
		return nil, "", err
	}
	var standing ledger.Standing
	for book, n := ledger.NewBook(), 0; n < len(rows); n++ {
		if err := book.Into(rows[n], &standing); err != nil {
			return nil, "", err
		}
	}
	cuts, written := standing.Cuts(), map[string]bool{}
	for _, row := range writes {
		if h, is := row.Value.(ledger.HoldBody); is && h.Scope == ledger.HoldCut {
			cuts = append(cuts, memory.Cut{Source: h.Key, Before: h.Since})
		}
		written[row.Key] = written[row.Key] || row.Kind == ledger.Memory
	}
	var stable []memory.Stable
	visit := func(f memory.Fact) {
		k := KeptOf(f, cuts, now)
		if k.State == factAnswered && f.Store == memory.Semantic {
			stable = append(stable, memory.Stable{Key: k.Target, Value: k.Shows.Canonical(), At: k.Shows.At})
		}
		list = append(list, k)
	}
	if err = core.Walk(ctx, from, ledger.Memory, func(f memory.Fact) bool {
		if !written[f.Place()] {
			visit(f)
		}
		return true
	}); err != nil {
		return nil, "", err
	}
	for _, row := range writes {
		if f, is := row.Value.(memory.Fact); is {
			visit(f)
		}
	}
	slices.SortFunc(list, func(x, y Kept) int {
		return cmp.Or(strings.Compare(x.Target, y.Target), strings.Compare(y.Store, x.Store))
	})
	hash, err = memory.Hash(stable)
	return list, hash, err
}

// KeptOf is a fact as people see it, with the sources of which nothing is answered.
func KeptOf(f memory.Fact, cuts []memory.Cut, now time.Time) Kept {
	k := Kept{Fact: f, Target: memory.Target(f.Holder, f.Key), State: factAnswered}
	v, there := f.At(now, func(v memory.Version) bool { return memory.Hidden(v, cuts) })
	switch {
	case f.Store == memory.Waiting:
		k.State, v = factWaits, f.Newest()
	case !there && v.ID != "":
		k.State = factOver
	case !there:
		k.State, v = hiddenBy(f.Newest(), cuts), f.Newest()
	}
	k.Shows = v
	return k
}

// FactStates are what becomes of facts, for whoever looks for some.
func FactStates() []string {
	return []string{factAnswered, factQuarantined, factTaken, factWaits, factOver}
}

// hiddenBy says how a version is hidden: for good, or for as long as its source is quarantined.
func hiddenBy(v memory.Version, cuts []memory.Cut) string {
	for _, c := range cuts {
		if !c.Before.IsZero() && memory.Hidden(v, []memory.Cut{c}) {
			return factTaken
		}
	}
	return factQuarantined
}
