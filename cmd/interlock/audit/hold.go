package audit

import (
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/replay"
	"interlock/internal/store"
)

// Unordered is what there is to say of rules that nobody ordered; empty where that is nothing.
func Unordered(standing ledger.Standing) string {
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

type HoldCommand struct {
	List holdList `cmd:"" default:"withargs" help:"List what is held, why and since when."`
	cli.PlainOrders
	Clear holdClear `cmd:"" help:"End a hold."`
}

type holdList struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// A heldLine is a hold as it is listed.
type heldLine struct {
	Name string `json:"name"`
	ledger.HoldBody
}

// Run lists the holds.
func (c *holdList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	holds, err := HoldsOf(p, opened)
	if err != nil {
		return err
	}
	lines := make([]heldLine, len(holds))
	for n := range holds {
		lines[n] = heldLine{holds[n].Name(), holds[n]}
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(holds) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "nothing is held")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOLD\tSINCE\tCAUSE\tWHY")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", cli.Printable(l.Name), l.Since.Local().Format("2006-01-02 15:04"), l.Cause,
			cli.Brief(l.Why))
	}
	return table.Flush()
}

// maxHolds is how many holds are read: each rests on something that was found broken, or on an admin's order.
const maxHolds = 1000

// HoldsOf reads the holds that stand.
func HoldsOf(p *cli.Program, opened *store.Store) (list []ledger.HoldBody, err error) {
	rows, _, err := opened.Scan(p.Ctx, ledger.Ref{Kind: ledger.Hold, Mark: ledger.All},
		ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Limit: maxHolds})
	for _, row := range rows {
		if h, ok := row.Value.(ledger.HoldBody); ok {
			list = append(list, h)
		}
	}
	return list, err
}

type holdClear struct {
	cli.OrderFlags
	What   string `arg:"" help:"The hold's name, or as much of it as names no other." placeholder:"NAME"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock hold clear --help` adds.
func (holdClear) Help() string {
	return "A signed order of an admin or of one of the council, recorded as FORCE_HALT_CLEAR. Where a council sits it takes a request\n" +
		"force_halt_clear that the council has approved. Mend what the hold is about first, such as by restoring a backup: what is still\n" +
		"broken is held again when it is next looked at."
}

// Run ends a hold.
func (c *holdClear) Run(p *cli.Program) error {
	opened, err := p.Open()
	if err != nil {
		return err
	}
	holds, err := HoldsOf(p, opened.Store)
	opened.Close()
	if err != nil {
		return err
	}
	what, err := wholeName(holds, c.What)
	if err != nil {
		return err
	}
	return p.PlainOrder(c.OrderFlags, interlock.VerbClearHold, what, c.Reason, false)
}

// wholeName finds the one hold that a part of a name means. A name that means none is left for the order to be refused with.
func wholeName(holds []ledger.HoldBody, part string) (string, error) {
	found := ""
	for n := range holds {
		name := holds[n].Name()
		if name == part {
			return part, nil
		}
		if len(part) >= 8 && len(name) > len(part) && name[:len(part)] == part {
			if found != "" {
				return "", interlock.Errorf(interlock.CodeInvalid, "NAME", "more than one hold begins with this; name it whole")
			}
			found = name
		}
	}
	if found == "" {
		return part, nil
	}
	return found, nil
}

// heldIn tells what is held in a store.
func heldIn(p *cli.Program, opened *store.Store) (func(scope ledger.HoldScope, key string) bool, error) {
	holds, err := HoldsOf(p, opened)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for n := range holds {
		names[holds[n].Name()] = true
	}
	return func(scope ledger.HoldScope, key string) bool {
		return len(names) > 0 && names[ledger.HoldName(scope, key)]
	}, nil
}

// damaged tells of a blob that could not be read whether it is damaged: the store can be read, and that blob can't.
func (l *past) damaged(p *cli.Program, digest interlock.Digest, err error) error {
	if err == nil || l.store == nil {
		return err
	}
	if checking := l.store.Checking; checking != nil {
		if _, _, again := checking.BlobUnchanged(p.Ctx, digest); again != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %w", replay.ErrDamaged, err)
}

// broke remembers what is to be held because of a failure.
func (r *replayResult) broke(f *replay.Failure) {
	same := func(h ledger.HoldBody) bool { return h.Name() == f.On.Name() }
	if f.On.Scope != "" && len(r.broken) < maxFailures && !slices.ContainsFunc(r.broken, same) {
		r.broken = append(r.broken, f.On)
		r.Held = append(r.Held, f.On.Name())
	}
}

// hold records what was found broken in this home, and has it held. What is broken in a copy, or may be in an archive, holds nothing.
func (c *replayRun) hold(p *cli.Program, ordered *orderedReplay, r *replayResult) error {
	if c.From != "" || len(c.Archive) > 0 {
		r.Held = nil
	}
	if len(r.Held) == 0 {
		return nil
	}
	var err error
	if ordered != nil {
		err = ordered.backend.Hold(p.Ctx, r.broken...)
	} else {
		var backend *embedded.Backend
		if backend, err = p.Open(); err == nil {
			defer backend.Close()
			err = backend.Hold(p.Ctx, r.broken...)
		}
	}
	if err != nil {
		r.Held = nil
		return fmt.Errorf("what was found could not be recorded, and nothing is held: %w", err)
	}
	return nil
}

// brokenSnapshots looks at every snapshot of this home, records which are broken, and has them held. said is what there is to say of who
// ordered the rules.
func brokenSnapshots(p *cli.Program) (found []ledger.HoldBody, said string, err error) {
	opened, _, err := p.AuditStore()
	if err != nil {
		return nil, "", err
	}
	defer opened.Close()
	rows, _, err := opened.Load(p.Ctx, governance.RulesOrdered()...)
	if err != nil {
		return nil, "", err
	}
	standing, book := ledger.Standing{}, ledger.NewBook()
	for _, row := range rows {
		if err := book.Into(row, &standing); err != nil {
			return nil, "", err
		}
	}
	said = Unordered(standing)
	found, err = embedded.BrokenSnapshots(p.Ctx, opened)
	if err != nil || len(found) == 0 {
		return nil, said, err
	}
	backend, err := p.Open()
	if err != nil {
		return found, said, fmt.Errorf("%s: %s, and that could not be recorded: %w", interlock.EventIntegrity, found[0].Why, err)
	}
	defer backend.Close()
	return found, said, backend.Hold(p.Ctx, found...)
}

func holdNames(holds []ledger.HoldBody) (names []string) {
	for n := range holds {
		names = append(names, holds[n].Name())
	}
	return names
}
