package judging

import (
	"cmp"
	"context"
	"math"
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

// JudgeSpent tells how much of the judges' budgets is used, of each those first that have used most. A budget that nobody has used stands
// there with nothing used.
func (a *Judging) JudgeSpent(ctx context.Context) (list []JudgeSpent, err error) {
	if len(a.Config.JudgeBudgets) == 0 {
		return nil, nil
	}
	now := a.Config.Now().UTC()
	used := make([][]JudgeSpent, len(a.Config.JudgeBudgets))
	every := ledger.Span{From: math.MinInt64, UpTo: math.MaxInt64, Newest: true, Limit: 500}
	for n := 0; n < spentReads; {
		rows, next, err := a.Config.Store.Scan(ctx, ledger.Ref{Kind: ledger.Usage, Mark: ledger.Until}, every)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			a.spentOf(row, used, now)
		}
		if n += len(rows); next == (ledger.Place{}) {
			break
		}
		every.After = next
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
func (a *Judging) spentOf(row ledger.Row, used [][]JudgeSpent, now time.Time) {
	parts := strings.Split(row.Key, "\x00")
	body, is := row.Value.(ledger.UsageBody)
	if !is || len(parts) < 2 || parts[0] != "judge" {
		return
	}
	for n, b := range a.Config.JudgeBudgets {
		if parts[1] == b.ID && (len(parts) > 2) == (b.Per != core.JudgePerAll) {
			used[n] = append(used[n], JudgeSpent{JudgeBudget: b, Of: strings.Join(parts[2:], " "), Used: body.Used(b.Window, now)})
		}
	}
}
