package main

import (
	"context"
	"time"

	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/ledger"
	"interlock/internal/witness"
)

// store opens the store, verifies its head and holds it against the checkpoints kept beside the harnesses' settings.
func (d *diagnosis) store(project string) {
	ctx, cancel := context.WithTimeout(d.program.ctx, 10*time.Second)
	defer cancel()
	start := now()
	backend, err := embedded.OpenBrief(ctx, d.settings)
	if embedded.AboutRules(err) {
		d.note("rules", "", statusFail, "%s; so hooks that decide in process refuse every call, and a server or gateway that runs "+
			"goes on under the rules of before", err)
		return
	}
	if err != nil {
		d.note("store", "", statusFail, "%s", err)
		return
	}
	defer backend.Close()
	d.settings = backend.Settings // those that are in force
	d.settled(backend.Settled)
	d.note("rules", "", statusOK, "%d rules, %s", len(backend.Rules().Rules()), backend.Rules().Digest())
	head, err := backend.Store.Head(ctx)
	if err != nil {
		d.note("store", "", statusFail, "the log's head can't be read: %s", err)
		return
	}
	var newest auditlog.Checkpoint
	if head.Size > 0 {
		if newest, err = backend.Key.OpenCheckpoint(head.Checkpoint); err != nil || newest.Size != head.Size {
			d.note("store", "", statusFail, "the log's newest checkpoint does not fit the log; run: interlock audit verify")
			return
		}
	}
	d.note("store", "", statusOK, "%d entries; the signed head holds", head.Size)
	d.checks[len(d.checks)-1].Micros = now().Sub(start).Microseconds()
	d.note("key", "", statusOK, "%s; the private half is readable by its owner alone", backend.Key.ID())
	if wrong, err := backend.CheckStanding(ctx); err != nil || wrong > 0 {
		d.note("standing", "", statusFail, "%d things beside the log are not as Interlock wrote them, and not believed; run: interlock "+
			"audit verify", wrong)
	} else {
		d.note("standing", "", statusOK, "what stands beside the log is what the log's key vouches for")
	}
	d.governed(ctx, backend)
	d.browsers(ctx, backend)
	d.clock(ctx, backend, head.Size)
	for _, agent := range harness.All() {
		places := harness.HeadFiles(userHome(d.program.getenv), agent)
		for i, path := range places {
			if other := places[1-i]; !exists(path) && exists(other) {
				d.note("checkpoint", agent, statusWarn, "%s is missing, although %s is there: hooks keep both", path, other)
			}
			d.keptCheckpoint(ctx, backend, agent, path, newest)
		}
	}
	apart, err := d.program.histories(ctx, backend.Store, backend.Key)
	if err != nil {
		d.note("histories", "", statusFail, "the log can't be held against what hooks have kept of it: %s", err)
	}
	d.installed(ctx, backend, project)
	for _, one := range apart {
		d.note("histories", "", statusFail, "%s. If you have put an older copy of the home in place, move the files that say so away; "+
			"otherwise somebody has changed the log", one)
	}
}

// installed holds what was registered with harnesses against what the log says was.
func (d *diagnosis) installed(ctx context.Context, backend *embedded.Backend, project string) {
	var dirs []string
	if project != "" {
		dirs = append(dirs, project)
	}
	wrong, err := d.program.lookAtInstalled(ctx, backend, dirs, false)
	if err != nil {
		d.note("installed", "", statusFail, "it can't be told whether hooks are registered as they were: %s", err)
	}
	for _, one := range wrong {
		d.note("installed", "", statusFail, "%s; `interlock install` registers it again", one)
	}
}

// governed says what is held, and whether somebody ordered the rules.
func (d *diagnosis) governed(ctx context.Context, backend *embedded.Backend) {
	standing, err := backend.Ground(ctx, append(governance.RulesOrdered(), ledger.Ref{Kind: ledger.Hold, Mark: ledger.All})...)
	if err != nil {
		d.note("rules", "", statusFail, "who ordered the rules can't be read: %s", err)
		return
	}
	if said := unordered(standing); said != "" {
		d.note("rules", "", statusWarn, "%s", said)
	}
	for _, h := range standing.Holds() {
		if h = h.AsOf(now()); h.State() != "" {
			d.note("hold", "", statusWarn, "%s is in %s: %s; interlock phase show and interlock breaker show say more", printable(h.Name()),
				h.State(), printable(h.Why))
			continue
		}
		status := statusFail
		if h.Scope == ledger.HoldEvent { // which keeps nobody from deciding
			status = statusWarn
		}
		if h.Scope == ledger.HoldKill {
			d.note("kill", "", status, "everything is stopped since %s: %s; an admin lets it go on with interlock kill release",
				h.Since.Local().Format("2006-01-02 15:04:05"), printable(h.Why))
			continue
		}
		d.note("hold", "", status, "%s is held: %s; interlock hold list says more", printable(h.Name()), printable(h.Why))
	}
}

// settled says which settings have no effect, and whether the order that was given still counts.
func (d *diagnosis) settled(settled embedded.Settled) {
	switch problem := settled.Order.Problem; {
	case len(settled.Refused) > 0:
		d.note("settings", "", statusWarn, "%s", settled.Says())
	case problem != "":
		d.note("settings", "", statusWarn, "the order of %s about the settings counts no more (%s); an admin orders them anew with "+
			"interlock settings adopt", printable(settled.Order.Operator), problem)
	case settled.Order.ID != "":
		d.note("settings", "", statusOK, "as %s ordered on %s", printable(settled.Order.Operator), day(settled.Order.At))
	}
}

// unordered is what there is to say of rules that nobody ordered; empty where that is nothing.
func unordered(standing ledger.Standing) string {
	const adopt = "; an admin orders them with interlock rules adopt"
	by, refused := governance.OrderedBy(standing.Settings)
	switch {
	case refused != "":
		return "the rules in the rules directory are not in force, because no admin has ordered them" + adopt
	case by == core.RulesUnordered:
		return "no admin has ordered the rules that are in force" + adopt
	}
	return ""
}

// clock holds the clock against the newest entry: a clock that went back makes approvals and call ids expire wrongly.
func (d *diagnosis) clock(ctx context.Context, backend *embedded.Backend, size int64) {
	at := now().UTC()
	if at.Year() < 2025 {
		d.note("clock", "", statusFail, "the clock says %s", at.Format(time.RFC3339))
		return
	}
	if size > 0 {
		if entry, found, err := auditlog.EntryAt(ctx, backend.Store, size-1); err == nil && found {
			if event, err := auditlog.ParseEvent(entry.Body); err == nil && event.Recorded.After(at.Add(time.Minute)) {
				d.note("clock", "", statusFail, "the newest entry was recorded at %s, which is later than now",
					event.Recorded.Format(time.RFC3339))
				return
			}
		}
	}
	d.note("clock", "", statusOK, "%s", at.Format(time.RFC3339))
}

// keptCheckpoint holds the log against the checkpoint a harness keeps: a log that was cut or replaced contradicts it.
func (d *diagnosis) keptCheckpoint(ctx context.Context, backend *embedded.Backend, agent, path string,
	newest auditlog.Checkpoint) {
	text, err := fileio.Plain(path, maxClientFile)
	if err != nil {
		return
	}
	held, readable := witness.ParseHead(text)
	origin, size := held.Origin, held.Size
	switch {
	case !readable:
		d.note("checkpoint", agent, statusWarn, "%s is no checkpoint", path)
	case origin != backend.Key.Origin():
		d.note("checkpoint", agent, statusWarn,
			"%s is of the log %.80q, not of this one: the store was replaced, or several are used", path, origin)
	case size > newest.Size:
		d.note("checkpoint", agent, statusFail,
			"%s covers %d entries, the log holds %d: the log was cut; run: interlock audit verify --checkpoint %s", path, size,
			newest.Size, path)
	default:
		older, err := backend.Key.OpenCheckpoint(text)
		if err == nil && older.Size > 0 {
			var proof [][32]byte
			if proof, err = auditlog.ProveConsistency(ctx, backend.Store, newest.Size, older.Size); err == nil {
				err = auditlog.CheckConsistency(proof, newest, older)
			}
		}
		if err != nil {
			d.note("checkpoint", agent, statusFail, "%s contradicts the log: %s", path, err)
			return
		}
		d.note("checkpoint", agent, statusOK, "%s (%d entries) is a prefix of the log", path, size)
	}
}
