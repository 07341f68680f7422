package judging

import (
	"context"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Ground rules are what a judge holds actions against. They stay what they are while a process runs, whatever becomes of their file,
// until an admin orders others (ASA 16.4): the order binds the text it brings, and the text is in the store.

// groundSnapshot is under which name an event of ground rules names the text that is added to those that ship.
const groundSnapshot = "added_ground_rules"

// GroundDetail is the detail of an order about ground rules: what binds the text that is added to those that ship.
func GroundDetail(added string) string {
	if added == "" {
		return ""
	}
	return string(auditlog.BlobDigest([]byte(added)))
}

// GroundText names the text that an event of ground rules is about; empty where nothing is added to those that ship.
func GroundText(e auditlog.Event) interlock.Digest {
	return interlock.Digest(e.Snapshots[groundSnapshot])
}

// adoptGround has judges hold actions against other ground rules, on an admin's order that names them: all of them as a judge is sent
// them as its subject, and what is added to those that ship as its detail, which stays the same when a new version ships others.
func (a *Judging) adoptGround(_ context.Context, c *core.PendingOrder) error {
	if a.Config.Grounds == nil {
		return interlock.Errorf(interlock.CodeUnavailable, "verb", "ground rules are not ordered here")
	}
	whole, err := a.Config.Grounds(c.Aside)
	switch {
	case err != nil:
		return err
	case c.Detail != GroundDetail(c.Aside):
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the ground rules are others than the order binds")
	case c.Subject != string(whole):
		return interlock.Errorf(interlock.CodeConflict, "subject",
			"with those that ship here they are %s, and the order is about others; look again and give the order anew", whole)
	}
	kept := a.OrderKept(c.Order)
	return a.grounds(&c.Change, interlock.Requester{Agent: c.Operator}, "operator", c.Aside,
		auditlog.GroundRulesRecord{GroundRules: whole, Before: a.groundNow(), Order: &kept})
}

// groundNow is what the judges of this process hold actions against; empty where there are none.
func (a *Judging) groundNow() interlock.Digest {
	if len(a.Config.Judges) == 0 {
		return ""
	}
	return a.Config.Judges[0].Identity().GroundRules
}

// grounds adds the event about ground rules to a change, with the text that is added to those that ship.
func (a *Judging) grounds(change *ledger.Change, by interlock.Requester, role, added string, r auditlog.GroundRulesRecord) error {
	r.Added = interlock.Digest(GroundDetail(added))
	if err := a.Append(change, interlock.EventGroundRules, by, role, r); err != nil || added == "" {
		return err
	}
	change.Blobs = append(change.Blobs, ledger.Blob{Digest: r.Added, Text: []byte(added)})
	change.Events[len(change.Events)-1].Snapshots[groundSnapshot] = string(r.Added)
	return nil
}

// GroundBegun records that a process that lasts began with other ground rules than the log names last: ordered is the event of the order
// that they are by, if they are by one.
func (a *Judging) GroundBegun(ctx context.Context, before interlock.Digest, added, ordered string) error {
	var change ledger.Change
	if err := a.grounds(&change, interlock.Requester{Agent: "interlock"}, "system", added,
		auditlog.GroundRulesRecord{GroundRules: a.groundNow(), Before: before, Ordered: ordered}); err != nil {
		return err
	}
	_, err := a.Config.Store.Commit(ctx, change)
	return err
}
