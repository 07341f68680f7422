package judging

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// A JudgeSpent is how much of a judges' budget those have used that it counts together.
type JudgeSpent struct {
	core.JudgeBudget
	Of   string // the agent or the class; empty where all are counted together
	Used int64  // in millionths of one unit of the currency, within the window
}

// The bounds of what is read to tell.
const (
	spentReads = 5000
	spentEach  = 20 // of one budget, those that have used most
)

// JudgeSpent tells how much of the judges' budgets is used, of each those first that have used most. A budget that nobody has
// used is there with nothing used.
func (a *Judging) JudgeSpent(ctx context.Context) (list []JudgeSpent, err error) {
	if len(a.Config.JudgeBudgets) == 0 {
		return nil, nil
	}
	now := a.Config.Now().UTC()
	used := make([][]JudgeSpent, len(a.Config.JudgeBudgets))
	visit := func(u ledger.CountedFor) { a.spentOf(u, used, now) }
	if _, _, err := core.EachUse(ctx, a.Config.Store, spentReads, visit); err != nil {
		return nil, err
	}
	for n, b := range a.Config.JudgeBudgets {
		if len(used[n]) == 0 {
			used[n] = []JudgeSpent{{JudgeBudget: b}}
		}
		slices.SortFunc(used[n], func(x, y JudgeSpent) int { return cmp.Or(cmp.Compare(y.Used, x.Used), cmp.Compare(x.Of, y.Of)) })
		list = append(list, used[n][:min(len(used[n]), spentEach)]...)
	}
	return list, nil
}

// spentOf takes in what a row says of a judges' budget.
func (a *Judging) spentOf(u ledger.CountedFor, used [][]JudgeSpent, now time.Time) {
	for n, b := range a.Config.JudgeBudgets {
		if u.Limit == "judge" && !u.Monitored && u.Per == b.ID && (len(u.Of) > 0) == (b.Per != core.JudgePerAll) {
			used[n] = append(used[n], JudgeSpent{JudgeBudget: b, Of: strings.Join(u.Of, " "), Used: u.Body.Used(b.Window, now)})
		}
	}
}
