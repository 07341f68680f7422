package quorum

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// These are the first line of what is signed to give a standing grant, without a scope and with one. No approval begins with either.
const (
	grantHeader = "Interlock grant, version 1"
	scopeHeader = "Interlock grant, version 2"
	rangeHeader = "Interlock grant, version 3" // with a range of parameters
)

// The bounds of a standing grant.
const (
	MaxGrant      = 30 * 24 * time.Hour // from its making to its expiry
	MaxTimes      = 1000                // draws
	maxConditions = 16
	maxRules      = 32
)

// GrantStatement returns the exact text an operator signs to give a standing grant. It is ASCII and binds everything the
// grant allows; how often it may still be drawn, and that it was ended, only ever tighten and stay outside.
func GrantStatement(g interlock.Grant) string {
	var b strings.Builder
	line := func(name, value string) { b.WriteString(name + ": " + strconv.QuoteToASCII(value) + "\n") }
	switch {
	case g.Range != nil:
		b.WriteString(rangeHeader + "\n")
	case g.Scope == nil:
		b.WriteString(grantHeader + "\n")
	default:
		b.WriteString(scopeHeader + "\n")
	}
	line("id", g.ID)
	line("operator", g.Operator)
	line("agent", g.Agent)
	line("principal", g.Principal)
	line("ruleset", string(g.Ruleset))
	line("kind", string(g.Kind))
	line("tool", g.Tool)
	for _, rule := range g.Rules {
		line("rule", rule)
	}
	for _, c := range g.Conditions {
		line("condition", strconv.QuoteToASCII(c.Parameter)+" "+c.Operator+" "+canonical(c.Value))
	}
	if s := g.Scope; s != nil {
		line("project", s.Dir)
		line("run", s.Run)
		for _, word := range s.Words {
			line("word", word)
		}
		line("text", s.Text)
		line("arguments", canonical(s.Arguments))
	}
	if r := g.Range; r != nil {
		line("type", r.Type)
		for _, name := range r.Free {
			line("free", name)
		}
		line("currency", r.Currency)
		b.WriteString("most: " + strconv.FormatInt(r.Most, 10) + "\n")
	}
	line("reason", g.Reason)
	b.WriteString("times: " + strconv.Itoa(g.Times) + "\n")
	b.WriteString("created: " + g.Created.UTC().Format(time.RFC3339Nano) + "\n")
	if g.Expires.IsZero() {
		b.WriteString("expires: when it is ended\n")
	} else {
		b.WriteString("expires: " + g.Expires.UTC().Format(time.RFC3339Nano) + "\n")
	}
	return b.String()
}

// canonical is one spelling of a value, so that a store that keeps another spelling of it keeps the signature good.
func canonical(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	text, err := strictjson.Canonical(value)
	if err != nil {
		return string(value) // refused by the bounds
	}
	return string(text)
}

// boundGrant refuses a grant that is not bounded, or not in force.
func boundGrant(g interlock.Grant, now time.Time) error {
	if err := CheckBounds(g); err != nil {
		return err
	}
	if !g.InForce(now) {
		return refuse(interlock.CodeExpired, "expires", "the grant is not in force: it has ended, expired or been used up")
	}
	return nil
}

// CheckBounds refuses a grant that says too little or too much, before anything is signed.
func CheckBounds(g interlock.Grant) error {
	switch {
	case g.ID == "":
		return refuse(interlock.CodeInvalid, "id", "the grant has no id")
	case g.Range != nil:
		return checkRange(g)
	case g.Agent == "" || g.Principal == "" || strings.ContainsAny(g.Agent, "*?"):
		return refuse(interlock.CodeInvalid, "agent", "name one agent and whom it acts for")
	case g.Scope != nil:
		return checkScoped(g)
	case g.Ruleset == "":
		return refuse(interlock.CodeInvalid, "ruleset", "name the ruleset the grant holds under")
	case !g.Kind.Valid():
		return refuse(interlock.CodeInvalid, "kind", "name the kind of action")
	case len(strings.Trim(g.Tool, "*? ")) < minPlain:
		return refuse(interlock.CodeInvalid, "tool", "name the tool or command; a grant is never for everything")
	case g.Times < 1 || g.Times > MaxTimes || g.Left > g.Times:
		return refuse(interlock.CodeInvalid, "times", "a grant is for 1 to 1000 times")
	case g.Created.IsZero() || !g.Created.Before(g.Expires) || g.Expires.Sub(g.Created) > MaxGrant:
		return refuse(interlock.CodeInvalid, "expires", "a grant ends after at most 30 days")
	case len(g.Conditions) > maxConditions || len(g.Rules) > maxRules:
		return refuse(interlock.CodeInvalid, "conditions", "the grant has too many conditions or rules")
	}
	if err := checkLengths(g); err != nil {
		return err
	}
	for _, c := range g.Conditions {
		if err := checkCondition(c); err != nil {
			return err
		}
	}
	return nil
}

func checkLengths(g interlock.Grant) error {
	for _, text := range append([]string{g.Agent, g.Principal, g.Tool, g.Reason}, g.Rules...) {
		if len(text) > maxScope {
			return refuse(interlock.CodeInvalid, "tool", "a part of the grant is too long")
		}
	}
	return nil
}

// checkScoped is CheckBounds of what is left of a grant with a scope: it names the rules whose questions it answers, and its time or
// none.
func checkScoped(g interlock.Grant) error {
	switch {
	case !g.Kind.Valid():
		return refuse(interlock.CodeInvalid, "kind", "name the kind of action")
	case g.Ruleset != "" || len(g.Conditions) > 0:
		return refuse(interlock.CodeInvalid, "ruleset", "a standing yes names rules and a pattern, no ruleset and no conditions")
	case len(g.Rules) == 0 || len(g.Rules) > maxRules:
		return refuse(interlock.CodeInvalid, "rules", "name the rules whose questions it answers, 1 to 32")
	case (g.Tool != "") != g.Kind.TakesObject() || strings.ContainsAny(g.Tool, "*?"):
		return refuse(interlock.CodeInvalid, "tool", "name the one tool; kinds with text have none")
	case g.Times < 0 || g.Times > MaxTimes || g.Left > g.Times:
		return refuse(interlock.CodeInvalid, "times", "a standing yes is for 1 to 1000 times, or for as often as it comes")
	case g.Created.IsZero() || !g.Expires.IsZero() && !g.Created.Before(g.Expires):
		return refuse(interlock.CodeInvalid, "expires", "a standing yes ends after it began, or when it is ended")
	case g.Scope.Run != "" && (g.Expires.IsZero() || g.Expires.Sub(g.Created) > MaxGrant):
		return refuse(interlock.CodeInvalid, "expires", "one for a session ends after at most 30 days")
	}
	if err := checkLengths(g); err != nil {
		return err
	}
	if err := g.Scope.Check(g.Kind); err != nil {
		return err
	}
	if len(g.Scope.Arguments) > 0 {
		if _, err := strictjson.Canonical(g.Scope.Arguments); err != nil {
			return refuse(interlock.CodeInvalid, "pattern", "the arguments are not plain JSON")
		}
	}
	return nil
}

// checkCondition refuses a condition that could not be compared, so that nobody signs one that never holds by mistake.
func checkCondition(c interlock.Condition) error {
	if c.Parameter == "" || len(c.Parameter) > maxScope || len(c.Value) > maxScope {
		return refuse(interlock.CodeInvalid, "conditions", "a condition names a parameter and a JSON value")
	}
	if _, err := strictjson.Canonical(c.Value); err != nil {
		return refuse(interlock.CodeInvalid, "conditions", "a condition's value is not plain JSON")
	}
	var value any
	if json.Unmarshal(c.Value, &value) != nil { // unreachable: it is plain JSON
		return refuse(interlock.CodeInvalid, "conditions", "a condition names a parameter and a JSON value")
	}
	fits := false
	switch value.(type) {
	case float64:
		fits = c.Operator == "<" || c.Operator == "<=" || c.Operator == ">" || c.Operator == ">=" || c.Operator == "==" ||
			c.Operator == "!="
	case string:
		fits = c.Operator == "==" || c.Operator == "!=" || c.Operator == "matches"
	case bool:
		fits = c.Operator == "==" || c.Operator == "!="
	case []any:
		fits = c.Operator == "in"
	}
	if !fits {
		return refuse(interlock.CodeInvalid, "conditions",
			"a condition compares a number with < <= > >= == !=, a text with == != matches, or a list with in")
	}
	return nil
}

// ParseConditions reads one condition a line, as people write them: a parameter, an operator and a JSON value. What is no
// JSON is a text.
func ParseConditions(text string) ([]interlock.Condition, error) {
	var out []interlock.Condition
	for _, line := range strings.Split(text, "\n") {
		parameter, rest := firstWord(line)
		if parameter == "" {
			continue
		}
		operator, value := firstWord(rest)
		if value = strings.TrimSpace(value); value == "" {
			return nil, refuse(interlock.CodeInvalid, "conditions", "write one condition a line, such as: count <= 5")
		}
		if !json.Valid([]byte(value)) {
			quoted, err := json.Marshal(value)
			if err != nil {
				return nil, refuse(interlock.CodeInvalid, "conditions", "a value can't be read")
			}
			value = string(quoted)
		}
		out = append(out, interlock.Condition{Parameter: parameter, Operator: operator, Value: json.RawMessage(value)})
	}
	return out, nil
}

// firstWord cuts a line behind its first word.
func firstWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t\r")
	if end := strings.IndexAny(line, " \t\r"); end >= 0 {
		return line[:end], line[end:]
	}
	return line, ""
}
