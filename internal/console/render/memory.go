package render

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/memory"
)

// A HeldSource is one of which nothing is answered.
type HeldSource struct {
	ledger.HoldBody
	For bool // for good: the council took it back
}

// A MemoryFilter is what somebody looks for among facts.
type MemoryFilter struct{ Q, Store, State string }

// Any reports whether it leaves anything out.
func (f MemoryFilter) Any() bool { return f != MemoryFilter{} }

func (f MemoryFilter) holds(k *governance.Kept) bool {
	return (f.Store == "" || k.Store == f.Store) && (f.State == "" || k.State == f.State) &&
		memory.Matches(f.Q, k.Target, k.Shows.Agent+" "+k.Shows.Source+" "+strings.Join(k.Shows.Derives, " "))
}

// A Memory is what agents keep, without its values: by key, where it is from, what may be wrong with that, and how long it is kept.
type Memory struct {
	Filter   MemoryFilter
	Stores   []string
	States   []string
	Facts    []governance.Kept
	Looked   int
	Whole    bool // all that there are were looked through
	Held     []HeldSource
	Sources  []string // that a form offers
	Snapshot string
}

// maxFacts is how many facts are looked through for a page.
const maxFacts = 2000

// MemoryOf reads what the page shows.
func MemoryOf(ctx context.Context, from Grounded, filter MemoryFilter, now time.Time) (page Memory, err error) {
	page = Memory{Filter: filter, Stores: []string{memory.Semantic, memory.Episodic, memory.Waiting}, States: governance.FactStates()}
	standing, err := from.Ground(ctx, ledger.Ref{Kind: ledger.Hold, Mark: ledger.MemoryHolds},
		ledger.Ref{Kind: ledger.Setting, Key: core.SettingMemory})
	if err != nil {
		return page, err
	}
	for _, h := range standing.Holds() {
		page.Held = append(page.Held, HeldSource{h, h.Scope == ledger.HoldCut})
	}
	page.Snapshot = standing.Settings[core.SettingMemory]
	cuts := standing.Cuts()
	for span := newestFirst(); ; {
		rows, next, err := from.Scan(ctx, ledger.Ref{Kind: ledger.Memory, Mark: ledger.All}, span)
		if err != nil {
			return page, err
		}
		for _, row := range rows {
			f, is := row.Value.(memory.Fact)
			if !is {
				continue
			}
			page.Looked++
			if k := governance.KeptOf(f, cuts, now); page.Filter.holds(&k) && len(page.Facts) < maxKept {
				page.Facts = append(page.Facts, k)
				page.Sources = append(page.Sources, "agent:"+k.Shows.Agent)
			}
		}
		if page.Whole = next == (ledger.Place{}); page.Whole || page.Looked >= maxFacts {
			break
		}
		span.After = next
	}
	slices.Sort(page.Sources)
	page.Sources = slices.Compact(page.Sources)
	return page, nil
}
