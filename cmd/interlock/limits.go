package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

type limitsCommand struct {
	List    limitsList    `cmd:"" default:"withargs" help:"List limits, who has used how much of them, and when there is room again."`
	Suggest limitsSuggest `cmd:"" help:"Propose limits from what the log says was used at most."`
}

type limitsList struct {
	Agent     string `help:"Only what is counted for this agent." placeholder:"NAME"`
	Monitored bool   `help:"The book of what was only watched, because nothing was enforced."`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock limits --help` adds.
func (limitsList) Help() string {
	return "Limits stand in the rules (interlock rules; docs/rules.md says how). What was used is counted in the store and outlasts a change\n" +
		"of rules: another limit under the same name leaves other room for the same use."
}

// A limitLine is what one of those that a limit is counted for has used of it.
type limitLine struct {
	Limit    string    `json:"limit"`
	Per      string    `json:"per"`
	Of       []string  `json:"of,omitempty"` // who it is counted for; none: nobody has used anything of it yet
	Measure  string    `json:"measure"`
	Currency string    `json:"currency,omitempty"`
	Used     int64     `json:"used"`
	Most     int64     `json:"most"`
	Room     int64     `json:"room"`
	Within   string    `json:"within,omitempty"` // how long a use counts; for ever where there is none
	Back     time.Time `json:"back,omitzero"`    // when there is room for one more, where there is none
	Coarse   bool      `json:"coarse,omitempty"` // there are too many uses to count each exactly; then they count for a little longer

	limit *ruleset.Limit
}

// Run lists the limits that hold under the profile in force.
func (c *limitsList) Run(p *program) error {
	evaluator, _, err := p.evaluator()
	if err != nil {
		return err
	}
	lines, err := c.lines(p, evaluator.Rules, evaluator.Profile)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, lines)
	}
	if len(lines) == 0 {
		_, err = fmt.Fprintf(p.stdout, "no limit holds under the profile %s; docs/rules.md says how to write one\n", evaluator.Profile)
		return err
	}
	s, at := p.screen(), now()
	t := newTable("LIMIT", "FOR*", "USED", "OF", "ROOM", "WITHIN", "ROOM AGAIN IN")
	for _, l := range lines {
		again := "-"
		if !l.Back.IsZero() {
			again = span(l.Back.Sub(at))
		} else if l.Room == 0 {
			again = "never"
		}
		t.row(l.Limit, printable(l.who()), l.amount(l.Used), l.amount(l.Most), l.amount(l.Room), cmp.Or(l.Within, "ever"), again)
		if l.Room == 0 {
			t.styled("ROOM", red)
		}
	}
	t.print(s)
	return s.show()
}

// who says in words for whom it is counted.
func (l *limitLine) who() string {
	if l.Per == string(ruleset.PerEverything) {
		return "everything"
	}
	if l.Of == nil {
		return "each " + l.Per
	}
	return l.Per + " " + cmp.Or(strings.Join(l.Of, " "), "-")
}

func (l *limitLine) amount(n int64) string {
	if l.Measure == string(ruleset.MeasureMoney) {
		return interlock.Money(n, l.Currency)
	}
	return strconv.FormatInt(n, 10)
}

// lines are the limits that hold under a profile and what was used of them, the fullest first.
func (c *limitsList) lines(p *program, rules *ruleset.Ruleset, profile string) ([]limitLine, error) {
	used, err := c.usage(p)
	if err != nil {
		return nil, err
	}
	out := []limitLine{}
	for _, l := range rules.AllLimits() {
		if len(l.Profiles) > 0 && !slices.Contains(l.Profiles, profile) {
			continue
		}
		line := limitLine{Limit: l.ID, Per: string(l.Per), Measure: string(l.Measure), Currency: l.Currency, Most: l.Most, Room: l.Most, limit: l}
		if window := l.Window(); window > 0 {
			line.Within = span(window)
		}
		some := false
		for _, u := range used {
			if u.limit == l.ID && u.per == string(l.Per) {
				some, out = true, append(out, line.with(u))
			}
		}
		if !some && c.Agent == "" && !c.Monitored {
			out = append(out, line)
		}
	}
	slices.SortStableFunc(out, func(a, b limitLine) int {
		return cmp.Or(strings.Compare(a.Limit, b.Limit), cmp.Compare(a.Room, b.Room), slices.Compare(a.Of, b.Of))
	})
	return out, nil
}

// with is a line about those that have used something.
func (l limitLine) with(u limitUse) limitLine {
	at := now()
	l.Of, l.Coarse = u.of, u.body.Coarse
	l.Used = u.body.Used(l.limit.Window(), at)
	if l.Room = max(l.Most-l.Used, 0); l.Room == 0 && l.Most > 0 {
		l.Back = u.body.Back(ledger.Spend{Take: 1, Room: l.Most, Window: l.limit.Window()}, at)
	}
	return l
}

// A limitUse is what the store holds of one of those that a limit is counted for.
type limitUse struct {
	limit, per string
	of         []string
	body       ledger.UsageBody
}

// maxCounted is how many are read: those whose use ends last come first.
const maxCounted = 20_000

// usage reads what was used. A home without a store has used nothing.
func (c *limitsList) usage(p *program) (out []limitUse, err error) {
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(settings.Home, "interlock.db")); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	opened, _, err := p.auditStore()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return c.read(p, opened)
}

func (c *limitsList) read(p *program, opened *store.Store) (out []limitUse, err error) {
	span := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	for len(out) < maxCounted {
		rows, next, err := opened.Scan(p.ctx, ledger.Ref{Kind: ledger.Usage, Mark: ledger.Until}, span)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if one, ok := c.counted(row); ok {
				out = append(out, one)
			}
		}
		if next == (ledger.Place{}) {
			break
		}
		span.After = next
	}
	return out, nil
}

// counted reads a row of those that are asked for.
func (c *limitsList) counted(row ledger.Row) (one limitUse, ok bool) {
	u, is := ledger.ForWhom(row)
	if !is || u.Monitored != c.Monitored {
		return one, false
	}
	one = limitUse{limit: u.Limit, per: u.Per, of: u.Of, body: u.Body}
	ofAgent := one.per == string(ruleset.PerAgent) || one.per == string(ruleset.PerRun)
	return one, c.Agent == "" || ofAgent && len(one.of) > 0 && one.of[0] == c.Agent
}
