package audit

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/digest"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

type DigestCommand struct {
	Since string `help:"Sum up from then on: a length of time ago (8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"24h" placeholder:"TIME"`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock digest --help` adds.
func (DigestCommand) Help() string {
	return "It is made of the log alone, and names agents, rules, tools and hosts and nothing that an action or a person said. A tool or a host\n" +
		"is new that nobody used in the two weeks before. Some of what was permitted is named for a second look: --since 7d once a " +
		"week. `digest_at` in the settings has a running server tell people of it once a day."
}

// Run prints a digest.
func (c *DigestCommand) Run(p *cli.Program) error {
	from, err := p.Moment("--since", c.Since)
	if err != nil {
		return err
	}
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	d, err := sumUp(p.Ctx, opened, from, cli.Now().UTC())
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, d)
	}
	for _, line := range strings.Split(strings.TrimRight(d.Text(), "\n"), "\n") {
		if _, err := fmt.Fprintln(p.Stdout, cli.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// digestPage is how many entries are read at once, and maxDigest how many of before its time a digest looks at.
const (
	digestPage = 512
	maxDigest  = 100_000
)

// sumUp sums up a stretch of time of a log.
func sumUp(ctx context.Context, opened *store.Store, from, to time.Time) (digest.Digest, error) {
	maker, older := digest.New(from, to), 0
	for before := int64(-1); before != 0; {
		entries, err := opened.Entries(ctx, "", ledger.Before(before, digestPage))
		if err != nil {
			return digest.Digest{}, err
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			before = e.Index
			if auditlog.Released(&e) {
				continue
			}
			at := maker.Add(e)
			if at.IsZero() || !at.Before(from) {
				continue
			}
			if older++; older > maxDigest || at.Before(from.Add(-digest.LookBack)) {
				return maker.Sum(), nil
			}
		}
	}
	return maker.Sum(), nil
}

// lookForDigest is how often it is looked whether a digest is due.
const lookForDigest = time.Minute

// TellDigests tells people once a day what was, from the time on that the settings name.
func TellDigests(ctx context.Context, backend *embedded.Backend, logger *slog.Logger) {
	at := backend.Settings.DigestAt
	if at == "" {
		return
	}
	ticker := time.NewTicker(lookForDigest)
	defer ticker.Stop()
	for {
		if err := tellDigest(ctx, backend, at, cli.Now()); err != nil && ctx.Err() == nil {
			logger.Warn("telling the digest", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// tellDigest tells the digest of the day that ended at the newest time of day that the settings name, if nobody has been told yet: the
// alert by which it is told is in the log, whichever process wrote it.
func tellDigest(ctx context.Context, backend *embedded.Backend, at string, now time.Time) error {
	due, err := dueAt(at, now)
	if err != nil {
		return err
	}
	entries, err := backend.Store.Entries(ctx, interlock.EventAlert, ledger.Before(-1, digestPage))
	if err != nil {
		return err
	}
	for _, e := range entries {
		code, _ := auditlog.AlertOf(e)
		event, err := auditlog.ParseEvent(e.Body)
		if err == nil && event.Recorded.Before(due) {
			break
		}
		if code == digest.CodeOfDigest {
			return nil
		}
	}
	d, err := sumUp(ctx, backend.Store, due.Add(-24*time.Hour), due)
	if err != nil {
		return err
	}
	if drop := d.Drop(); drop != "" {
		if err := backend.Alarm(ctx, digest.CodeOfDrop, drop); err != nil {
			return err
		}
	}
	return backend.Alarm(ctx, digest.CodeOfDigest, d.Brief())
}

// dueAt is when a time of day was last, in the time zone of this machine.
func dueAt(at string, now time.Time) (time.Time, error) {
	clock, err := time.Parse("15:04", at)
	if err != nil {
		return time.Time{}, interlock.Errorf(interlock.CodeInvalid, "digest_at", "%.20q is no time of day such as 08:00", at)
	}
	now = now.Local()
	due := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if due.After(now) {
		due = due.AddDate(0, 0, -1)
	}
	return due, nil
}

// A TakenBack is an action that was let through and was denied afterwards.
type TakenBack struct {
	Event  string                 `json:"event"`
	At     string                 `json:"at"`
	Agent  string                 `json:"agent"`
	Class  string                 `json:"class"`
	Result string                 `json:"result"`
	Held   string                 `json:"held,omitempty"`
	Rule   string                 `json:"rule_id,omitempty"`
	Undo   *auditlog.UndoProposed `json:"undo,omitempty"`
}

// maxLateRead bounds how many answers of judges are looked through for denials.
const maxLateRead = 20_000

// TookBack reads from the log, newest first, what was denied after it was let through; at most so many, or with 0 all.
func TookBack(ctx context.Context, log *store.Store, most int) ([]TakenBack, error) {
	list := []TakenBack{}
	for before, read := int64(-1), 0; read < maxLateRead; {
		entries, err := log.Entries(ctx, interlock.EventJudgedLate, ledger.Before(before, digestPage))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			one, revoked, err := tookBackBy(e)
			if err != nil {
				return nil, err
			}
			if revoked {
				list = append(list, one)
			}
			if before = e.Index; len(list) == most && most > 0 {
				return list, nil
			}
		}
		if read += len(entries); len(entries) < digestPage {
			break
		}
	}
	return list, nil
}

// tookBackBy is what one answer of a judge took back, if it did.
func tookBackBy(e interlock.Entry) (one TakenBack, revoked bool, err error) {
	var is auditlog.JudgedAfterRecord
	event, err := auditlog.Read(e, &is)
	if err != nil || !is.Revokes() {
		return one, false, err
	}
	one = TakenBack{Event: is.Event, At: cli.When(event.Recorded), Agent: event.Actor, Class: is.Class, Result: is.Result, Held: is.Held, Undo: is.Undo}
	for n := range is.Judgments {
		if is.Judgments[n].Rule != "" {
			one.Rule = is.Judgments[n].Rule
		}
	}
	return one, true, nil
}
