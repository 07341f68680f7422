package governance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/origin"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// Agents keep facts only here (MACE 2): an episodic fact is kept once nothing objects to it, a stable one once the council has approved
// it besides. What is kept is weighed first (memory_weigh.go), and names all that it derives from, so that a source which turns out bad
// takes everything with it (memory_effects.go).

// memoryTTL is how long episodic facts are kept where the settings say nothing, and most facts of a holder in a store.
const (
	memoryTTL  = 30 * 24 * time.Hour
	memoryMost = 10_000
)

// heardFact is the tool that a fact is heard from, with its id: a run that was answered a tainted fact has what is in it from there.
const heardFact = "memory:"

// A keeping is a fact that is about to be kept, and what is known of who wants that.
type keeping struct {
	by     interlock.Requester
	put    memory.Put
	holder string // empty: it is shared
	refs   []ledger.Ref
	now    time.Time
	v      memory.Version
}

// PutFact keeps a fact of an agent's, or asks the council for one that is to be stable. What is not kept is an answer and no error.
func (a *Governance) PutFact(ctx context.Context, by interlock.Requester, q memory.Put) (memory.Reply, error) {
	if q.Store == "" {
		q.Store = memory.Episodic
	}
	if err := a.remembers(by); err != nil {
		return memory.Reply{}, err
	}
	if !memory.ValidKey(q.Key) {
		return a.notKept(ctx, by, memory.InvalidKey, memory.KeyForm), nil
	}
	if err := checkPut(q); err != nil {
		return memory.Reply{}, err
	}
	k, g, refused, err := a.keeping(ctx, by, q)
	if err != nil || refused != nil {
		return reply(refused), err
	}
	heard := core.Found[ledger.HeardBody](&g, core.Key(ledger.Heard, core.RunOf(by)))
	named, known := origin.In(heard.Heard, heard.Run, q.Value, k.now)
	if k.v.Taint = taints(named, known); q.Source != "" && q.Source != "user" {
		k.v.Taint = append(k.v.Taint, memory.TaintSource)
	}
	parts, bad, err := a.partsOf(ctx, k, named.Sources, hiddenIn(&g.Standing))
	if err != nil {
		return memory.Reply{}, err
	}
	if bad {
		return a.notKept(ctx, k.by, memory.PolicyBlocked, "something in it is from a fact that is quarantined or was taken back"), nil
	}
	if err := k.derive(parts); err != nil {
		return memory.Reply{}, err
	}
	if refused, err := a.weigh(ctx, k); err != nil || refused != nil {
		return reply(refused), err
	}
	if q.Store == memory.Semantic {
		return a.askStable(ctx, k, quorum.ActStable)
	}
	return a.keep(ctx, k)
}

// PromoteFact asks the council to make an episodic fact a stable one.
func (a *Governance) PromoteFact(ctx context.Context, by interlock.Requester, q memory.Promotion) (memory.Reply, error) {
	if err := a.remembers(by); err != nil {
		return memory.Reply{}, err
	}
	if !memory.ValidKey(q.Key) {
		return a.notKept(ctx, by, memory.InvalidKey, memory.KeyForm), nil
	}
	holder := a.holder(by, q.Key)
	k, g, refused, err := a.keeping(ctx, by, memory.Put{Key: q.Key, Store: memory.Semantic, Because: q.Because, Subject: q.Subject},
		core.Key(ledger.Memory, memory.Place(memory.Episodic, holder, q.Key)))
	if err != nil || refused != nil {
		return reply(refused), err
	}
	f, _ := g.Fact(memory.Episodic, holder, q.Key)
	was, there := f.At(k.now, hiddenIn(&g.Standing))
	if !there {
		return a.notKept(ctx, by, memory.NotFound, "no episodic fact is kept under this key"), nil
	}
	value, permitted, err := a.opened(ctx, k.by, was)
	if err != nil {
		return memory.Reply{}, err
	}
	if !permitted {
		return a.notKept(ctx, k.by, memory.PrivacyBlocked, classify.PrivacyMessage), nil
	}
	k.put.Value, k.put.Source, k.v.Source = value, was.Source, was.Source
	k.v.Subject = cmp.Or(was.Subject, k.v.Subject) // whose it is does not change
	k.v.Taint = slices.Clone(was.Taint)
	if err := k.derive([]memory.Version{{Derives: was.Derives, About: was.About}}); err != nil {
		return memory.Reply{}, err
	}
	if refused, err := a.weigh(ctx, k); err != nil || refused != nil {
		return reply(refused), err
	}
	return a.askStable(ctx, k, quorum.ActPromotion)
}

// remembers says why nothing can be asked of the memory here.
func (a *Governance) remembers(by interlock.Requester) error {
	if err := core.CheckAgent(by, "every fact has an author"); err != nil {
		return err
	}
	if !a.Config.Memory.Enabled {
		return interlock.Errorf(interlock.CodeUnavailable, "", "no facts are kept here; set memory.enabled in the settings")
	}
	return nil
}

func checkPut(q memory.Put) error {
	switch {
	case q.Store != memory.Episodic && q.Store != memory.Semantic:
		return interlock.Errorf(interlock.CodeInvalid, "/store", "is episodic or semantic")
	case q.Value == "" || len(q.Value) > memory.MaxValue:
		return interlock.Errorf(interlock.CodeInvalid, "/value", "has 1 to %d bytes", memory.MaxValue)
	case !utf8.ValidString(q.Value) || strings.IndexByte(q.Value, 0) >= 0:
		return interlock.Errorf(interlock.CodeInvalid, "/value", "is not valid UTF-8, or holds a NUL character")
	case q.TTL < 0:
		return interlock.Errorf(interlock.CodeInvalid, "/ttl_seconds", "is a number of seconds from now")
	case len(q.From) > maxNamed:
		return interlock.Errorf(interlock.CodeInvalid, "/from", "names more than %d facts", maxNamed)
	}
	return core.PlainName("/source", q.Source)
}

// holder is whose the facts under a key are that an agent reads and writes; empty: everybody's.
func (a *Governance) holder(by interlock.Requester, key string) string {
	if slices.Contains(a.Config.Memory.Shared, memory.Scope(key)) {
		return ""
	}
	return by.Agent
}

// keeping begins with a fact: who wants it kept, and whether they may have anything kept now.
func (a *Governance) keeping(ctx context.Context, by interlock.Requester, q memory.Put, more ...ledger.Ref) (*keeping,
	core.DecisionRows, *memory.Reply, error) {
	if q.Subject != "" {
		if err := privacy.CheckSubject(q.Subject); err != nil {
			return nil, core.DecisionRows{}, nil, err
		}
	}
	k := &keeping{put: q, holder: a.holder(by, q.Key), now: a.Config.Now().UTC().Truncate(time.Microsecond)}
	var err error
	if k.refs, err = a.overAgent(ctx, by); err != nil {
		return nil, core.DecisionRows{}, nil, err
	}
	g, err := a.Rows(slices.Concat(k.refs, more, []ledger.Ref{core.Key(ledger.Heard, core.RunOf(by))})...)(ctx, a.Config.Store.Load)
	if err != nil {
		return nil, g, nil, err
	}
	if why := a.barred(&g.Standing, by, true); why != "" {
		refused := a.notKept(ctx, by, memory.PermissionDenied, why)
		return nil, g, &refused, nil
	}
	k.by = core.Owned(by, g.Standing)
	id, err := a.Random(12)
	k.v = memory.Version{ID: "mem_" + id, Agent: k.by.Agent, Principal: k.by.Principal, Run: by.Run, Source: q.Source, Subject: q.Subject,
		At: k.now}
	return k, g, nil, err
}

// derive says what a fact rests on and whom it is about, which is more to read before it is written.
func (k *keeping) derive(parts []memory.Version) error {
	err := k.v.Derive(parts)
	k.refs = slices.Concat(k.refs, core.ConsentRefs(k.v.About...))
	return err
}

func taints(named origin.Named, known bool) (list []string) {
	if !known {
		return []string{memory.TaintUnheard}
	}
	if named.Ordered {
		list = append(list, memory.TaintOrdered)
	}
	if named.Returned {
		list = append(list, memory.TaintReturned)
	}
	return list
}

// partsOf are the facts that another is made of: those that its author names, and those that its run was answered and that name what is
// in it. bad is that one of them is hidden: what was taken back comes back by nobody's word.
func (a *Governance) partsOf(ctx context.Context, k *keeping, heard []string, hidden func(memory.Version) bool) (parts []memory.Version,
	bad bool, err error) {
	ids := slices.Clone(k.put.From)
	for _, source := range heard {
		if id, fact := strings.CutPrefix(source, heardFact); fact {
			ids = append(ids, id)
		}
	}
	for n, id := range ids {
		v, there, err := a.versionOf(ctx, k.by, id)
		switch {
		case err != nil:
			return nil, false, err
		case there:
			parts, bad = append(parts, v), bad || hidden(v)
		case n < len(k.put.From):
			return nil, false, interlock.Errorf(interlock.CodeNotFound, fmt.Sprintf("/from/%d", n), "is no fact that this agent reads")
		default: // it was kept when the run was answered it, and what it derived from is not known any more
			parts = append(parts, memory.Version{Taint: []string{memory.TaintDerived}})
		}
	}
	return parts, bad, nil
}

// versionOf finds a version of a fact that an agent reads, by its id.
func (a *Governance) versionOf(ctx context.Context, by interlock.Requester, id string) (v memory.Version, there bool, err error) {
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Memory, ledger.FactNamed(id)), ledger.Every(4))
	for _, row := range rows {
		f, is := row.Value.(memory.Fact)
		if !is || f.Store == memory.Waiting || f.Holder != a.holder(by, f.Key) {
			continue
		}
		for _, v := range f.Versions {
			if v.ID == id {
				return v, true, err
			}
		}
	}
	return v, false, err
}

// full says why no more facts are kept of a holder in a store, or about somebody; empty: there is room for one more, and the change is
// held against what else comes meanwhile.
func (a *Governance) full(ctx context.Context, change *ledger.Change, store, holder string, about []string) (string, error) {
	why := "as many facts are kept as may be; write over others, or wait until some end"
	if store == memory.Semantic {
		why = "as many stable facts are kept as may be; the council deletes some (sem_delete)"
	}
	most, mark := cmp.Or(max(a.Config.Memory.Most, 0), memoryMost), core.Under(ledger.Memory, ledger.FactsIn(store, holder))
	for n := 0; ; n++ {
		change.Reads = append(change.Reads, mark)
		if have, err := a.Config.Store.Count(ctx, mark, ledger.Every(most)); err != nil || have >= most {
			return why, err
		}
		if n == len(about) {
			return "", nil
		}
		most, mark = privacy.MaxKept, core.Under(ledger.Memory, ledger.OfPerson(about[n]))
		why = "as many facts are kept about this person as may be"
	}
}

// keep writes an episodic fact.
func (a *Governance) keep(ctx context.Context, k *keeping) (memory.Reply, error) {
	ttl := a.Config.Memory.TTL
	if ttl <= 0 {
		ttl = memoryTTL
	}
	if own := k.put.TTL; own > 0 && own < int64(ttl/time.Second) {
		ttl = time.Duration(own) * time.Second
	}
	k.v.Until = k.now.Add(ttl)
	outcome, why := "", ""
	ground := a.Rows(slices.Concat(k.refs, []ledger.Ref{core.Key(ledger.Memory, memory.Place(memory.Episodic, k.holder, k.put.Key))})...)
	receipt, err := a.CommitOn(ctx, false, ground, func(standing ledger.Standing) (change ledger.Change, err error) {
		change.Version = standing.Version
		if why = a.barred(&standing, k.by, true); why != "" {
			outcome = memory.PermissionDenied
			return change, core.ErrUnchanged
		}
		if why = a.unpermitted(&standing, k.v, false); why != "" {
			outcome = memory.PrivacyBlocked
			return change, core.ErrUnchanged
		}
		f, there := standing.Fact(memory.Episodic, k.holder, k.put.Key)
		if !there {
			if why, err = a.full(ctx, &change, memory.Episodic, k.holder, k.v.About); err != nil {
				return change, err
			}
		}
		if why != "" {
			outcome = memory.StorageFull
			return change, core.ErrUnchanged
		}
		sealed, err := a.sealed(&standing, k.v)
		if err != nil {
			return change, err
		}
		f.Store, f.Holder, f.Key = memory.Episodic, k.holder, k.put.Key
		change.Writes = ledger.Rows(f.With(sealed))
		return change, a.told(&change, interlock.EventMemory, k.by, "agent", auditlog.FactKept, memory.Episodic, k.holder, k.put.Key, k.v)
	})
	switch {
	case errors.Is(err, core.ErrUnchanged):
		return a.notKept(ctx, k.by, outcome, why), nil
	case err != nil:
		return memory.Reply{Outcome: memory.Failed, Message: core.Reason(err)}, nil
	}
	return memory.Reply{Outcome: memory.OK, ID: k.v.ID, Event: receipt.Events[0]}, nil
}

// askStable has a fact wait, and asks the council whether it is to be a stable one. Those who vote are shown the whole of it, and what
// may be wrong with where it comes from; personal data, which its subject agreed to, is named by its kind.
func (a *Governance) askStable(ctx context.Context, k *keeping, kind string) (memory.Reply, error) {
	shown := memory.Shown{Fact: k.v.ID, Value: k.v.Value, Taint: k.v.Taint, Personal: k.v.Personal, About: k.v.About, Agent: k.v.Agent,
		Source: k.v.Source}
	if len(shown.Personal) > 0 {
		shown.Value = ""
	}
	params, err := strictjson.Marshal(&shown)
	if err != nil {
		return memory.Reply{}, err
	}
	if len(params) > maxActionParams {
		return a.notKept(ctx, k.by, memory.StableFailed, "a stable fact is short enough for those who vote to see all of it"), nil
	}
	if full, err := a.full(ctx, new(ledger.Change), memory.Semantic, k.holder, k.v.About); err != nil || full != "" { // and again once they have approved it
		if err != nil {
			return memory.Reply{}, err
		}
		return a.notKept(ctx, k.by, memory.StorageFull, full), nil
	}
	because := k.put.Because
	if strings.TrimSpace(because) == "" {
		because = "the agent asks for it"
	}
	target := memory.Target(k.holder, k.put.Key)
	refs := slices.Concat(k.refs, []ledger.Ref{core.Key(ledger.Memory, memory.Place(memory.Waiting, k.holder, k.put.Key))})
	r, receipt, err := a.askWith(ctx, k.by, kind, because, RequestTerms{Target: target, Params: string(params)}, refs,
		func(standing *ledger.Standing, change *ledger.Change, r interlock.ActionRequest) error {
			return a.wait(standing, change, r, k)
		})
	var refusal *interlock.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == interlock.CodeUnauthorized && refusal.Field == "/subject":
		return memory.Reply{Outcome: memory.PrivacyBlocked, Message: refusal.Message}, nil
	case errors.As(err, &refusal) && refusal.Code == interlock.CodeUnauthorized:
		return memory.Reply{Outcome: memory.PermissionDenied, Message: refusal.Message}, nil
	case err != nil:
		return memory.Reply{Outcome: memory.StableFailed, Message: core.Reason(err)}, nil
	}
	return memory.Reply{Outcome: memory.OK, ID: k.v.ID, Request: r.ID, Event: receipt.Events[0],
		Message: "it waits for the council, and is answered once they have approved it and it was carried out"}, nil
}

// wait has a fact wait for the request that asks for it. One of another agent that waits under the same key stays there.
func (a *Governance) wait(standing *ledger.Standing, change *ledger.Change, r interlock.ActionRequest, k *keeping) error {
	if why := a.barred(standing, k.by, true); why != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "%s", why)
	}
	if why := a.unpermitted(standing, k.v, true); why != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "/subject", "%s", why)
	}
	if f, there := standing.Fact(memory.Waiting, k.holder, k.put.Key); there {
		if v := f.Newest(); v.Agent != k.by.Agent && k.now.Before(v.Until) {
			return interlock.Errorf(interlock.CodeConflict, "/key", "what another agent wants to be stable waits under this key (%s)", v.Request)
		}
	}
	k.v.Request, k.v.Until = r.ID, r.Expires
	sealed, err := a.sealed(standing, k.v)
	if err != nil {
		return err
	}
	change.Writes = append(change.Writes, ledger.Rows(memory.Fact{Store: memory.Waiting, Holder: k.holder, Key: k.put.Key, Number: 1,
		Versions: []memory.Version{sealed}})...)
	return a.told(change, interlock.EventMemory, k.by, "agent", auditlog.FactWaits, memory.Semantic, k.holder, k.put.Key, k.v)
}

// told adds the event that says what became of a fact.
func (a *Governance) told(change *ledger.Change, kind interlock.EventType, by interlock.Requester, role, did, store, holder, key string,
	v memory.Version) error {
	record := auditlog.MemoryRecord{Did: did, Store: store, Key: memory.Target(holder, key), Fact: v.ID, Bytes: len(v.Value),
		Derives: v.Derives, Taint: v.Taint, Personal: v.Personal, Request: v.Request}
	if a.Config.Hash != nil && v.Value != "" {
		var err error
		if record.Hash, record.KeyID, err = a.Config.Hash(v.Value, core.RunOf(by), a.Config.Now().UTC()); err != nil {
			return err
		}
	}
	return a.Append(change, kind, by, role, record)
}

// notKept records that something asked of the memory was refused, and is the answer.
func (a *Governance) notKept(ctx context.Context, by interlock.Requester, outcome, why string) memory.Reply {
	answer := a.Refuse(ctx, by, "memory", interlock.Errorf(interlock.CodeInvalid, "", "%s: %s", outcome, why))
	return memory.Reply{Outcome: outcome, Message: why, Event: answer.Event}
}

// reply is the answer where there is one, and beside an error nothing.
func reply(r *memory.Reply) memory.Reply {
	if r == nil {
		return memory.Reply{}
	}
	return *r
}
