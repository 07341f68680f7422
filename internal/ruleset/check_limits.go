package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
)

// MaxMost is the largest number that is counted: what JSON can carry exactly.
const MaxMost = 1<<53 - 1

// The bounds of limits.
const (
	maxLimits = 1000
	maxWithin = 366 * 24 * time.Hour
)

// limits checks how much may be used up.
func (c *checker) limits(limits []*Limit) error {
	if len(limits) > maxLimits {
		return c.doc.Errorf("/limits", "there are more than %d limits", maxLimits)
	}
	for i, l := range limits {
		at := fmt.Sprintf("/limits/%d", i)
		if l == nil {
			return c.doc.Errorf(at, "the limit is empty")
		}
		if err := c.limit(l, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) limit(l *Limit, at string) error {
	if !idForm().MatchString(l.ID) || len(l.ID) > 80 {
		return c.doc.Errorf(at+"/id", "id must be lower-case words joined by dots and dashes, e.g. team.calls-an-hour")
	}
	name := "limit " + l.ID
	if other, have := c.loader.limits[name]; have && (!c.user || c.loader.own[name]) {
		return c.doc.Errorf(at+"/id", "the limit %s stands in %s already; choose another id", l.ID, other)
	}
	c.loader.limits[name], c.loader.own[name] = c.file, c.user
	for i, glob := range l.Agents {
		if glob == "" {
			return c.doc.Errorf(fmt.Sprintf("%s/agents/%d", at, i), "the glob is empty; remove it")
		}
	}
	for i, k := range l.Kinds {
		if !k.Valid() {
			return c.doc.Errorf(fmt.Sprintf("%s/kinds/%d", at, i), "unknown kind of action; known are %v", interlock.Kinds())
		}
	}
	if err := c.predicate(l.Match, at+"/match"); err != nil {
		return err
	}
	if !slices.Contains(pers, l.Per) {
		return c.doc.Errorf(at+"/per", "per must be one of %v", pers)
	}
	if !slices.Contains(measures, l.Measure) {
		return c.doc.Errorf(at+"/measure", "measure must be one of %v", measures)
	}
	return c.howMuch(l, at)
}

// howMuch checks the numbers of a limit.
func (c *checker) howMuch(l *Limit, at string) error {
	_, known := interlock.MinorUnits(l.Currency)
	switch {
	case l.Measure == MeasureMoney && !known:
		return c.doc.Errorf(at+"/currency", "money is counted in one currency: give its ISO 4217 code in capitals, such as EUR")
	case l.Measure != MeasureMoney && l.Currency != "":
		return c.doc.Errorf(at+"/currency", "only money has a currency; remove it, or measure money")
	case l.Most < 0 || l.Most > MaxMost:
		return c.doc.Errorf(at+"/most", "most must be from 0 to %d%s", int64(MaxMost), smallest(l))
	case l.Within != 0 && time.Duration(l.Within) < time.Second || time.Duration(l.Within) > maxWithin:
		return c.doc.Errorf(at+"/within", "within must be from 1s to %s, or left out for a total", maxWithin)
	case l.Verdict != interlock.Deny && l.Verdict != interlock.Ask:
		return c.doc.Errorf(at+"/verdict", "a limit denies or asks: give deny or ask")
	case l.Unknown < 0 || l.Unknown > MaxMost:
		return c.doc.Errorf(at+"/unknown", "unknown must be from 1 to %d, or left out to be asked", int64(MaxMost))
	case l.Review && l.Verdict != interlock.Ask:
		return c.doc.Errorf(at+"/account_review", "a heuristic of misuse blocks nothing and leaves it to people: give verdict: ask beside it")
	case l.Unknown > 0 && (l.Measure == MeasureActions || l.Measure == MeasureCalls):
		return c.doc.Errorf(at+"/unknown", "%s are always known; remove it", l.Measure)
	}
	return nil
}

func smallest(l *Limit) string {
	if l.Measure != MeasureMoney {
		return ""
	}
	return "; money is counted in the smallest unit of its currency, so 500 EUR are 50000"
}

// loosenedLimits names limits that leave more room in one ruleset than in another: those that are gone, that let more through, or
// that count something else.
func loosenedLimits(from, to *Ruleset) ([]string, error) {
	var out []string
	for _, was := range from.limits {
		now, still := to.Limit(was.ID)
		if !still {
			out = append(out, "limit "+was.ID)
			continue
		}
		as := *now
		if now.Most <= was.Most {
			as.Most = was.Most
		}
		if now.Verdict.Compare(was.Verdict) >= 0 {
			as.Verdict = was.Verdict
		}
		if was.WarnAt == 0 {
			as.WarnAt = 0
		}
		as.Review = as.Review && was.Review
		if now.EscalateAt > 0 && (was.EscalateAt == 0 || now.EscalateAt <= was.EscalateAt) {
			as.EscalateAt = was.EscalateAt
		}
		same, err := sameText(was, &as)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, "limit "+was.ID)
		}
	}
	return out, nil
}

// Says is what a limit is, in a few words for people.
func (l *Limit) Says() string {
	parts := []string{fmt.Sprint(l.Most), string(l.Measure)}
	if l.Measure == MeasureMoney {
		parts = []string{interlock.Money(l.Most, l.Currency)}
	}
	if l.Within > 0 {
		parts = append(parts, "within", time.Duration(l.Within).String())
	} else {
		parts = append(parts, "in all")
	}
	return strings.Join(append(parts, "per", string(l.Per)), " ")
}
