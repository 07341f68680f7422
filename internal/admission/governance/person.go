package governance

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/memory"
	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// What a person may want of what is kept of them, as the detail of an order.
const (
	DataExport = "export"
	DataDelete = "delete"
)

func readPerson(o interlock.Order) []ledger.Ref {
	return slices.Concat(everybody(), core.PersonRefs(o.Subject))
}

func findPerson(c *core.PendingOrder) error {
	p, known := c.Standing.Person(c.Subject)
	switch {
	case !known && len(c.Standing.FactsAbout(c.Subject)) == 0:
		return interlock.Errorf(interlock.CodeNotFound, "subject",
			"nothing is kept of a person of this name; `interlock privacy list` shows of whom")
	case !p.Destroyed.IsZero():
		return keyDestroyed(p)
	case c.Detail != DataExport && c.Detail != DataDelete:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "say export or delete, not %.20q", c.Detail)
	}
	return nil
}

// dataRequest records what a person asks for, and how it was made sure that it is they. What is kept of them is opened after that is
// durable, as a signed admin_access_event; that it be deleted is for the council.
func (a *Governance) dataRequest(_ context.Context, c *core.PendingOrder) error {
	who, kept := interlock.Requester{Agent: c.Operator}, a.OrderKept(c.Order)
	record := auditlog.DataRequestRecord{Subject: c.Subject, Wants: c.Detail, Order: kept}
	if err := a.Append(&c.Change, interlock.EventDataRequest, who, "operator", record); err != nil {
		return err
	}
	if c.Detail == DataExport {
		return a.Append(&c.Change, interlock.EventAccess, who, "operator", auditlog.AccessRecord{Order: kept})
	}
	r, err := a.ask(&c.Standing, quorum.ActDeletePerson, RequestTerms{Target: privacy.TargetPerson + c.Subject},
		"this person asks for it; identified: "+c.Reason, interlock.Requester{Agent: c.Operator, Principal: c.Operator}, "operator", c.Now)
	if err != nil {
		return err
	}
	r.Role = c.Standing.Operators[c.Operator].Role
	c.Done.Request = r
	record.Request = r.ID
	if err := a.Append(&c.Change, interlock.EventDataDelete, who, "operator", record); err != nil {
		return err
	}
	return a.asked(&c.Change, r, "operator", &kept)
}

// openPerson opens what is kept of a person, facts about them included, once the log says who reads it and why.
func (a *Governance) openPerson(_ context.Context, c *core.PendingOrder) error {
	if c.Detail != DataExport {
		return nil
	}
	p, _ := c.Standing.Person(c.Subject)
	c.Done.Opened = map[string]string{}
	for _, kept := range c.Standing.KeptOf(c.Subject) {
		if a.Config.People == nil {
			return noVault()
		}
		text, err := a.Config.People.Open(p.Key, kept.Sealed)
		if err != nil {
			return err
		}
		c.Done.Opened[kept.ID] = string(text)
	}
	for _, f := range c.Standing.FactsAbout(c.Subject) {
		for _, v := range f.Versions {
			if v.Subject != c.Subject && len(v.Sealed) > 0 {
				continue // it is somebody else's
			}
			text, err := a.openFact(&c.Standing, v)
			if err != nil {
				return err
			}
			c.Done.Opened[v.ID] = text
		}
	}
	return nil
}

// deletePerson destroys a person's key and removes what was sealed under it and every fact about them, as the council has decided. The log
// stays as it is: it never held anything of it.
func (a *Governance) deletePerson(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	subject, is := strings.CutPrefix(r.Action.Target, privacy.TargetPerson)
	p, known := c.Standing.Person(subject)
	switch {
	case !is:
		return interlock.Errorf(interlock.CodeInvalid, "target", "a person is person:ID")
	case !known && len(c.Standing.FactsAbout(subject)) == 0:
		return interlock.Errorf(interlock.CodeNotFound, "target", "nothing is kept of a person of this name")
	case !p.Destroyed.IsZero():
		return keyDestroyed(p)
	}
	now := c.Now.Truncate(time.Microsecond)
	record := auditlog.DeletionRecord{Subject: subject, Request: r.ID, Key: p.Public}
	if !known { // an agent has named them, and nobody has ever sealed anything of theirs
		p = ledger.PersonBody{Subject: subject, Made: now}
	}
	p.Key, p.Destroyed, p.Request = nil, now, r.ID
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(p)...)
	ids := []string{}
	for _, kept := range c.Standing.KeptOf(subject) {
		ids = append(ids, kept.ID)
		record.Types = append(record.Types, kept.Types...)
		c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Personal, kept.ID))
	}
	facts, err := a.deleteFacts(c, r, subject)
	if err == nil {
		err = a.remembered(ctx, c)
	}
	if err != nil {
		return err
	}
	record.Facts = len(facts)
	for _, consent := range c.Standing.Consents(subject) {
		if consent.Revoked.IsZero() {
			record.Consents++
			consent.Revoked = now
			c.Change.Writes = append(c.Change.Writes, ledger.Rows(consent)...)
		}
	}
	record.Texts = len(ids)
	ids = append(ids, facts...)
	slices.Sort(ids)
	slices.Sort(record.Types)
	record.Types = slices.Compact(record.Types)
	digest, err := strictjson.Digest("interlock/deleted/v1", ids)
	if err != nil {
		return err
	}
	record.Digest = digest
	return a.Append(&c.Change, interlock.EventDeletedPersonal, interlock.Requester{Agent: c.Operator}, "operator", record)
}

// deleteFacts deletes what agents keep about a person, with an event each, and returns the ids of the newest versions.
func (a *Governance) deleteFacts(c *core.PendingOrder, r *interlock.ActionRequest, subject string) (ids []string, err error) {
	for _, f := range c.Standing.FactsAbout(subject) {
		v := f.Newest()
		ids = append(ids, v.ID)
		c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Memory, f.Place()))
		if err := a.told(&c.Change, interlock.EventSemDelete, inRequest(*r, c.Operator), "operator", auditlog.FactDeleted, f.Store, f.Holder,
			f.Key, memory.Version{ID: v.ID, Request: r.ID}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// keepPersonal keeps a text of a person sealed under their key. What permits it is read in the transaction that uses it, so that a consent
// which is revoked at the same moment keeps it out.
func (a *Governance) keepPersonal(ctx context.Context, t PersonalText, text string) (id, event string, err error) {
	by := t.Requester
	if a.Config.People == nil {
		return "", "", noVault()
	}
	if id, err = a.Random(12); err != nil {
		return "", "", err
	}
	kept := ledger.PersonalBody{ID: "pd_" + id, Subject: t.Subject, Agent: by.Agent, Run: by.Run, Bytes: len(text)}
	kept.Types, kept.Tier = typesOf(t.Pieces)
	refs := append(core.ConsentRefs(t.Subject), core.Key(ledger.Agent, by.Agent))
	of := core.Under(ledger.Personal, ledger.OfPerson(t.Subject))
	receipt, err := a.CommitOn(ctx, false, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change, now := ledger.Change{Version: standing.Version}, a.Config.Now().UTC()
		if err := core.InOffice(by, standing, now); err != nil {
			return change, err
		}
		p, known := standing.Person(t.Subject)
		authority := permitted(standing, t.Subject, by, now)
		if outcome, _ := privacy.Gate(t.Pieces, authority, true, true); !known || outcome == privacy.ConsentRequired || len(authority.IDs) == 0 {
			return change, interlock.Errorf(interlock.CodeUnauthorized, "subject", "no consent of this person is in force for this run")
		}
		change.Reads = append(change.Reads, of) // against what else is kept meanwhile
		if n, err := a.Config.Store.Count(ctx, of, ledger.Every(privacy.MaxKept)); err != nil {
			return change, err
		} else if n >= privacy.MaxKept {
			return change, interlock.Errorf(interlock.CodeLimited, "subject", "%d texts of this person are kept already", privacy.MaxKept)
		}
		sealed, err := a.Config.People.Seal(p.Public, []byte(text))
		if err != nil {
			return change, err
		}
		kept.At, kept.Consents, kept.Sealed = now.Truncate(time.Microsecond), authority.IDs, sealed
		change.Writes = ledger.Rows(kept)
		return change, a.Append(&change, interlock.EventPersonalKept, by, "agent", auditlog.KeptRecord{Kept: kept.ID, Subject: t.Subject,
			Consents: kept.Consents, Types: kept.Types, Tier: string(kept.Tier), Bytes: kept.Bytes, Requester: core.Owned(by, standing)})
	})
	if err != nil {
		return "", "", err
	}
	return kept.ID, receipt.Events[0], nil
}

// typesOf are the kinds of personal data among pieces, and the most sensitive tier of them.
func typesOf(pieces []privacy.Piece) (types []string, tier personal.Tier) {
	rank := func(t personal.Tier) int {
		return slices.Index([]personal.Tier{personal.Low, personal.Medium, personal.High}, t)
	}
	for _, p := range pieces {
		if p.Tier == "" {
			continue
		}
		types = append(types, p.Type)
		if rank(p.Tier) > rank(tier) {
			tier = p.Tier
		}
	}
	slices.Sort(types)
	return slices.Compact(types), tier
}
