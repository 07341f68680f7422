package quorum

import (
	"strconv"
	"strings"
	"time"

	"interlock"
)

// MaxRange is how long a pre-approved range may stand.
const MaxRange = 90 * 24 * time.Hour

func ranges(terms any) bool {
	g, grants := terms.(interlock.Grant)
	return grants && g.Range != nil
}

// checkRange is [CheckBounds] of a grant with a range: it names one tool, a type of agents, and bounds.
func checkRange(g interlock.Grant) error {
	r := g.Range
	switch {
	case g.Agent != "" || g.Principal != "" || g.Scope != nil || g.Ruleset != "" || len(g.Rules) > 0:
		return refuse(interlock.CodeInvalid, "range", "a range is for a type of agents, under whatever rules; leave agent, scope and rules out")
	case r.Type == "" || strings.ContainsAny(r.Type, "*?") || len(r.Type) > maxScope:
		return refuse(interlock.CodeInvalid, "type", "name the one type of agents it is for")
	case g.Kind != interlock.KindTool || g.Tool == "" || strings.ContainsAny(g.Tool, "*?"):
		return refuse(interlock.CodeInvalid, "tool", "name the one tool whose arguments are bounded")
	case len(g.Conditions) == 0 || len(g.Conditions) > maxConditions || len(r.Free) > maxConditions:
		return refuse(interlock.CodeInvalid, "conditions", "bound 1 to 16 arguments, such as: count <= 5")
	case g.Times < 0 || g.Times > MaxTimes || g.Left > g.Times:
		return refuse(interlock.CodeInvalid, "times", "a range is for 1 to 1000 times, or for as often as it comes")
	case g.Created.IsZero() || !g.Created.Before(g.Expires) || g.Expires.Sub(g.Created) > MaxRange:
		return refuse(interlock.CodeInvalid, "expires", "a range ends after at most 90 days")
	case r.Most < 0 || (r.Most > 0) != knownCurrency(r.Currency) || r.Most == 0 && r.Currency != "":
		return refuse(interlock.CodeInvalid, "most", "an amount is more than nothing, of a currency in three capitals such as EUR")
	}
	for _, name := range r.Free {
		if name == "" || len(name) > maxScope {
			return refuse(interlock.CodeInvalid, "free", "name the argument that may be anything")
		}
	}
	if err := checkLengths(g); err != nil {
		return err
	}
	for _, c := range g.Conditions {
		if err := checkCondition(c); err != nil {
			return err
		}
		if c.Operator == "!=" || c.Operator == "matches" && strings.Trim(string(c.Value), "*?\" ") == "" {
			return refuse(interlock.CodeInvalid, "conditions", "a condition bounds nothing; say what the argument may be, or name it as free")
		}
	}
	return nil
}

func knownCurrency(currency string) bool {
	_, known := interlock.MinorUnits(currency)
	return known
}

// ParseMoney reads an amount of money with its currency, such as EUR 500 or EUR 12.50, in the smallest unit of that currency.
func ParseMoney(text string) (currency string, minor int64, ok bool) {
	currency, amount, found := strings.Cut(text, " ")
	places, known := interlock.MinorUnits(currency)
	whole, part, _ := strings.Cut(amount, ".")
	if !found || !known || len(part) > places || strings.Trim(whole+part, "0123456789") != "" {
		return "", 0, false
	}
	minor, err := strconv.ParseInt(whole+part+strings.Repeat("0", places-len(part)), 10, 53)
	return currency, minor, err == nil && minor > 0
}

// TwoTeams reports whether two people are of two teams: each of one, and of none together.
func TwoTeams(one, other interlock.OperatorRecord) bool {
	if len(one.Teams) == 0 || len(other.Teams) == 0 || strings.EqualFold(one.Name, other.Name) || shared(one, other) {
		return false
	}
	for _, team := range one.Teams {
		for _, another := range other.Teams {
			if strings.EqualFold(team, another) {
				return false
			}
		}
	}
	return true
}
