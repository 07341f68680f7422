package setup

import (
	"context"
	"time"

	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/console"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/ledger"
	"interlock/internal/witness"
)

// store opens the store, verifies its head and holds it against the checkpoints kept beside the harnesses' settings.
func (d *Diagnosis) store(project string) {
	ctx, cancel := context.WithTimeout(d.Program.Ctx, 10*time.Second)
	defer cancel()
	start := cli.Now()
	backend, err := embedded.OpenBrief(ctx, d.Settings)
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
	d.Settings = backend.Settings // those that are in force
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
	d.Checks[len(d.Checks)-1].Micros = cli.Now().Sub(start).Microseconds()
	d.note("key", "", statusOK, "%s; the private half is readable by its owner alone", backend.Key.ID())
	if wrong, err := backend.CheckStanding(ctx); err != nil || wrong > 0 {
		d.note("standing", "", statusFail, "%d things beside the log are not as Interlock wrote them, and not believed; run: interlock "+
			"audit verify", wrong)
	} else {
		d.note("standing", "", statusOK, "what stands beside the log is what the log's key vouches for")
	}
	d.governed(ctx, backend)
	d.Browsers(ctx, backend)
	d.clock(ctx, backend, head.Size)
	for _, agent := range harness.All() {
		places := harness.HeadFiles(cli.UserHome(d.Program.Getenv), agent)
		for i, path := range places {
			if other := places[1-i]; !cli.Exists(path) && cli.Exists(other) {
				d.note("checkpoint", agent, statusWarn, "%s is missing, although %s is there: hooks keep both", path, other)
			}
			d.keptCheckpoint(ctx, backend, agent, path, newest)
		}
	}
	apart, err := audit.Histories(ctx, d.Program, backend.Store, backend.Key)
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
func (d *Diagnosis) installed(ctx context.Context, backend *embedded.Backend, project string) {
	var dirs []string
	if project != "" {
		dirs = append(dirs, project)
	}
	wrong, err := LookAtInstalled(ctx, d.Program, backend, dirs, false)
	if err != nil {
		d.note("installed", "", statusFail, "it can't be told whether hooks are registered as they were: %s", err)
	}
	for _, one := range wrong {
		d.note("installed", "", statusFail, "%s; `interlock install` registers it again", one)
	}
}

// governed says what is held, and whether somebody ordered the rules.
func (d *Diagnosis) governed(ctx context.Context, backend *embedded.Backend) {
	standing, err := backend.Ground(ctx, append(governance.RulesOrdered(), ledger.Ref{Kind: ledger.Hold, Mark: ledger.All})...)
	if err != nil {
		d.note("rules", "", statusFail, "who ordered the rules can't be read: %s", err)
		return
	}
	if said := audit.Unordered(standing); said != "" {
		d.note("rules", "", statusWarn, "%s", said)
	}
	for _, h := range standing.Holds() {
		if h = h.AsOf(cli.Now()); h.State() != "" {
			d.note("hold", "", statusWarn, "%s is in %s: %s; interlock phase show and interlock breaker show say more", cli.Printable(h.Name()),
				h.State(), cli.Printable(h.Why))
			continue
		}
		status := statusFail
		if h.Scope == ledger.HoldEvent { // which keeps nobody from deciding
			status = statusWarn
		}
		if h.Scope == ledger.HoldKill {
			d.note("kill", "", status, "everything is stopped since %s: %s; an admin lets it go on with interlock kill release",
				h.Since.Local().Format("2006-01-02 15:04:05"), cli.Printable(h.Why))
			continue
		}
		d.note("hold", "", status, "%s is held: %s; interlock hold list says more", cli.Printable(h.Name()), cli.Printable(h.Why))
	}
}

// settled says which settings have no effect, and whether the order that was given still counts.
func (d *Diagnosis) settled(settled embedded.Settled) {
	switch problem := settled.Order.Problem; {
	case len(settled.Refused) > 0:
		d.note("settings", "", statusWarn, "%s", settled.Says())
	case problem != "":
		d.note("settings", "", statusWarn, "the order of %s about the settings counts no more (%s); an admin orders them anew with "+
			"interlock settings adopt", cli.Printable(settled.Order.Operator), problem)
	case settled.Order.ID != "":
		d.note("settings", "", statusOK, "as %s ordered on %s", cli.Printable(settled.Order.Operator), cli.Day(settled.Order.At))
	}
}

// clock holds the clock against the newest entry: a clock that went back makes approvals and call ids expire wrongly.
func (d *Diagnosis) clock(ctx context.Context, backend *embedded.Backend, size int64) {
	at := cli.Now().UTC()
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
func (d *Diagnosis) keptCheckpoint(ctx context.Context, backend *embedded.Backend, agent, path string,
	newest auditlog.Checkpoint) {
	text, err := fileio.Plain(path, MaxClientFile)
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

// Browsers says whether messages reach the browsers that are told.
func (d *Diagnosis) Browsers(ctx context.Context, backend *embedded.Backend) {
	list, err := backend.Subscriptions(ctx)
	if err != nil {
		d.note("notifications", "", statusWarn, "which browsers are told can't be read: %s", err)
		return
	}
	if len(list) == 0 {
		return
	}
	state, says := console.PushHealth(list, func(t time.Time) string { return t.UTC().Format(time.RFC3339) })
	status := statusOK
	if state != "good" {
		status = statusWarn
	}
	d.note("notifications", "", status, "%s", says)
}
