package render

import (
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/ruleset"
)

// A Clause is one condition of a rule in words: what it is about, and which values meet it.
type Clause struct {
	Name   string
	Values []string
	Code   bool // the values are patterns, to be read letter by letter
}

// LooksFor says in words what a rule looks for. All clauses must hold.
func LooksFor(r *ruleset.Rule) []Clause {
	var list []Clause
	add := func(name string, code bool, values ...string) {
		if len(values) > 0 {
			list = append(list, Clause{name, values, code})
		}
	}
	add("Actions of the kind", false, textsOf(r.Kinds)...)
	for _, one := range predicateWords(r.Match.Predicate) {
		add(one.Name, one.Code, one.Values...)
	}
	add("Text like", true, r.Match.Glob...)
	if r.Match.Pattern != "" {
		add("Text that matches", true, r.Match.Pattern)
	}
	add("In text of the kind", false, textsOf(r.Match.Text)...)
	if a := r.After; a != nil {
		before := "once or more"
		if a.Times > 1 {
			before = strconv.Itoa(a.Times) + " times or more"
		}
		if a.Within != 0 {
			before += ", within " + fmt.Sprint(a.Within)
		}
		add("After the same run did this", false, before)
		for _, one := range predicateWords(a.Predicate) {
			add("… "+strings.ToLower(one.Name[:1])+one.Name[1:], one.Code, one.Values...)
		}
		if a.Same != "" {
			add("… to the same", false, a.Same)
		}
	}
	return list
}

func predicateWords(p ruleset.Predicate) (list []Clause) {
	add := func(name string, code bool, values ...string) {
		if len(values) > 0 {
			list = append(list, Clause{name, values, code})
		}
	}
	add("What it does", false, textsOf(p.Kind)...)
	for _, reach := range p.Reach {
		if len(list) == 0 || list[len(list)-1].Name != "Where" {
			list = append(list, Clause{Name: "Where"})
		}
		list[len(list)-1].Values = append(list[len(list)-1].Values, reachWords(reach))
	}
	var undo []string
	for _, r := range p.Reversibility {
		undo = append(undo, Undoing(r))
	}
	add("Whether it", false, undo...)
	add("How it is known", false, textsOf(p.Confidence)...)
	add("By", true, p.Via...)
	add("But not by", true, p.Except...)
	add("To", true, p.Target...)
	add("With all of", false, p.Traits.All...)
	add("With any of", false, p.Traits.Any...)
	add("With none of", false, p.Traits.None...)
	if p.Over > 0 {
		add("An amount over", false, Comma(p.Over))
	}
	return list
}

func textsOf[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return texts
}
