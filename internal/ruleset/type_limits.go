package ruleset

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"interlock"
)

// Caps bound what each agent of a type reaches within a time: a short form of limits that deny, and that ask a human for what would use
// more than half of them. 0 is no bound; money is in the smallest unit of its currency.
type Caps struct {
	Records    int64            `json:"records,omitempty"`
	Bytes      int64            `json:"bytes,omitempty"`
	Recipients int64            `json:"recipients,omitempty"`
	Calls      int64            `json:"external-calls,omitempty"`
	Tokens     int64            `json:"tokens,omitempty"`
	Money      map[string]int64 `json:"money,omitempty"`  // by ISO 4217 code
	Within     Span             `json:"within,omitempty"` // a day, if none is given
}

// What holds of caps that say nothing else.
const (
	capsWithin     = 24 * time.Hour
	capsEscalateAt = 50 // percent
)

// limits are the caps as limits, by measure. They have no numbers that were not checked: see [checker.typeLimits].
func (c Caps) limits(t *Type) (out []*Limit) {
	within := c.Within
	if within == 0 {
		within = Span(capsWithin)
	}
	add := func(name string, measure Measure, currency string, most int64) {
		out = append(out, &Limit{ID: "cap." + t.Name + "." + name, Agents: []string{t.Name}, Per: PerAgent, Measure: measure, Currency: currency,
			Most: most, Within: within, Verdict: interlock.Deny, EscalateAt: capsEscalateAt})
	}
	for _, one := range []struct {
		measure Measure
		most    int64
	}{{MeasureRecords, c.Records}, {MeasureBytes, c.Bytes}, {MeasureRecipients, c.Recipients}, {MeasureCalls, c.Calls}, {MeasureTokens, c.Tokens}} {
		if one.most != 0 {
			add(string(one.measure), one.measure, "", one.most)
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(c.Money)) {
		add("money."+currency, MeasureMoney, currency, c.Money[currency])
	}
	return out
}

// bounds are all limits that a type sets to its agents.
func (t *Type) bounds() []*Limit {
	list := t.Caps.limits(t)
	for _, l := range t.Limits {
		own := *l
		own.Agents = []string{t.Name}
		list = append(list, &own)
	}
	return list
}

// typeLimits checks what a type limits. A limit of a type is one like any other, but that it concerns the type's agents.
func (c *checker) typeLimits(t *Type, at string) error {
	for i, l := range t.Limits {
		here := fmt.Sprintf("%s/limits/%d", at, i)
		if l == nil {
			return c.doc.Errorf(here, "the limit is empty")
		}
		if len(l.Agents) > 0 {
			return c.doc.Errorf(here+"/agents", "a limit of a type concerns its own agents; remove agents, or write it under limits")
		}
		if err := c.limit(l, here); err != nil {
			return err
		}
	}
	for _, l := range t.Caps.limits(t) {
		field := at + "/caps/" + string(l.Measure)
		if l.Currency != "" {
			field += "/" + l.Currency
		}
		if l.Most < 0 {
			return c.doc.Errorf(field, "a cap is from 1 to %d, or left out for no bound", int64(MaxMost))
		}
		if err := c.howMuch(l, field); err != nil {
			return err
		}
	}
	if n := len(t.Models); n > maxTypeList {
		return c.doc.Errorf(at+"/models", "the list has more than %d entries", maxTypeList)
	}
	return nil
}
