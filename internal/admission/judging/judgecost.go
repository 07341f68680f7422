package judging

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// A priced judge says what asking it can cost.
type priced interface {
	// Price is the most that a question can cost, in millionths of one unit of a currency. Without a currency it is not known.
	Price(q interlock.JudgeQuestion) (most int64, currency string)
}

// A reservation is what was taken for asking judges once.
type reservation struct {
	at     time.Time
	prices []price
	spends []ledger.Spend
	in     []string // the currency of each of them
	said   []interlock.Judgment
}

// A price is the most that asking one judge one question can cost.
type price struct {
	judge    string
	subject  interlock.JudgeSubject
	most     int64
	currency string
}

// reserve takes what asking can cost from the budgets, in one change with an event, and reports whether there was enough. What a judge
// costs has to be known for that: of whom it is not, nothing is asked.
func (a *Judging) reserve(ctx context.Context, by interlock.Requester, q *Inquiry) (taken *reservation, enough bool, err error) {
	if len(a.Config.JudgeBudgets) == 0 {
		return nil, true, nil
	}
	taken = &reservation{}
	sums := map[string]int64{}
	// an output beside an action counts with that
	record := auditlog.JudgeAskedRecord{Class: q.Asks[0].Class, Subject: q.Asks[0].Subject}
	for n := range len(q.Asks) * len(q.judges) {
		judge, asks := q.each(n)
		one := price{judge: judge.Identity().Name, subject: subjectOf(asks)}
		if says, can := judge.(priced); can {
			one.most, one.currency = says.Price(asks)
		}
		if one.currency == "" || one.most < 0 {
			return nil, false, nil
		}
		sums[one.currency] += one.most
		taken.prices = append(taken.prices, one)
		record.Judges = append(record.Judges, auditlog.JudgeReserved{Judge: one.judge, Most: one.most, Currency: one.currency})
	}
	for _, b := range a.Config.JudgeBudgets {
		if sum := sums[b.Currency]; sum > 0 {
			taken.in = append(taken.in, b.Currency)
			taken.spends = append(taken.spends, ledger.Spend{Kind: ledger.Usage, Key: b.Key(by.Agent, q.Asks[0].Class), Take: sum,
				Room: b.Most, Window: b.Window})
		}
	}
	change := ledger.Change{Spends: taken.spends}
	if err := a.Append(&change, interlock.EventJudgeAsked, by, "system", record); err != nil {
		return nil, false, err
	}
	taken.at = change.Events[0].Recorded // by which the store dates what is taken, and what is given back is looked for
	_, err = a.Config.Store.Commit(ctx, change)
	var met *ledger.Met
	if errors.As(err, &met) && !errors.Is(err, ledger.ErrConflict) {
		return nil, false, nil
	}
	return taken, err == nil, err
}

// settled are the rows by which what was taken is put right.
func (j *Consultation) settled(now time.Time) (rows []ledger.Row) {
	for _, r := range j.reserved {
		for n, s := range r.spends {
			charged := int64(0)
			for _, one := range r.prices {
				if one.currency == r.in[n] {
					charged += r.charged(one)
				}
			}
			if charged != s.Take {
				rows = append(rows, ledger.Rows(ledger.Settling{Key: s.Key, Window: s.Window, Decided: r.at, At: now, Taken: s.Take,
					Charged: charged})...)
			}
		}
	}
	return rows
}

// charged is what asking a judge has cost. What was not sent costs nothing; of what was sent and told nothing of its use nobody knows
// what it has cost, so that all of it stays taken.
func (r *reservation) charged(one price) int64 {
	for n := range r.said {
		if said := &r.said[n]; said.Judge == one.judge && said.Subject == one.subject {
			switch {
			case said.Failure.Unsent():
				return 0
			case said.Currency == one.currency && said.TokensIn+said.TokensOut > 0:
				return max(said.Cost, 0)
			}
		}
	}
	return one.most
}

// unheardAll is what is recorded of judges that were not asked.
func unheardAll(q *Inquiry, why interlock.JudgeFailure) []interlock.Judgment {
	said := make([]interlock.Judgment, len(q.Asks)*len(q.judges))
	for n := range said {
		judge, asks := q.each(n)
		said[n] = interlock.Judgment{Judge: judge.Identity().Name, Subject: subjectOf(asks), Failure: why}
	}
	return said
}
