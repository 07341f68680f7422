package quorum

import (
	"path"
	"strconv"
	"strings"
	"time"

	"interlock"
)

// suppressionHeader is the first line of what is signed to keep a rule silent. No approval begins with it.
const suppressionHeader = "Interlock suppression, version 1"

// The bounds of a suppression.
const (
	MaxSuppression = 90 * 24 * time.Hour // from now to its expiry
	maxScope       = 500                 // bytes of a scope's part or a reason
	minPlain       = 2                   // plain characters in a glob over commands
)

// SuppressionStatement returns the exact text an operator signs to keep a rule silent. It is ASCII and binds everything the
// order says.
func SuppressionStatement(s interlock.Suppression) string {
	var b strings.Builder
	b.WriteString(suppressionHeader + "\n")
	for _, line := range [][2]string{{"id", s.ID}, {"rule", s.Rule}, {"agent", s.Agent}, {"path", s.Path}, {"command", s.Command},
		{"reason", s.Reason}, {"operator", s.Operator}} {
		b.WriteString(line[0] + ": " + strconv.QuoteToASCII(line[1]) + "\n")
	}
	b.WriteString("denials: " + strconv.FormatBool(s.Denials) + "\n")
	b.WriteString("created: " + s.Created.UTC().Format(time.RFC3339Nano) + "\n")
	b.WriteString("expires: " + s.Expires.UTC().Format(time.RFC3339Nano) + "\n")
	return b.String()
}

// boundSuppression refuses a suppression that is not bounded, or not in force.
func boundSuppression(s interlock.Suppression, now time.Time) error {
	if err := checkScope(s); err != nil {
		return err
	}
	if !s.InForce(now) || s.Expires.Sub(s.Created) > MaxSuppression {
		return refuse(interlock.CodeExpired, "expires",
			"a suppression ends after at most 90 days, and this one is not in force now")
	}
	return nil
}

// CheckSuppression refuses a suppression that says too little or too much, before anything is signed.
func CheckSuppression(s interlock.Suppression, now time.Time) error { return boundSuppression(s, now) }

// checkScope refuses an order that says too little or too much.
func checkScope(s interlock.Suppression) error {
	switch {
	case s.ID == "" || s.Rule == "":
		return refuse(interlock.CodeInvalid, "rule", "name the rule to suppress")
	case s.Run != "":
		return refuse(interlock.CodeInvalid, "run", "a rule is set aside for one job by a request of type safety_override")
	case s.Agent == "" && s.Path == "" && s.Command == "":
		return refuse(interlock.CodeInvalid, "scope", "name an agent, a path or a command; no rule is suppressed everywhere")
	case strings.TrimSpace(s.Reason) == "":
		return refuse(interlock.CodeInvalid, "reason", "say why, for the record")
	case s.Path != "" && (!path.IsAbs(s.Path) || path.Clean(s.Path) != s.Path || s.Path == "/"):
		return refuse(interlock.CodeInvalid, "path", "a path is absolute, without . and .., and not the root")
	case s.Agent != "" && strings.Trim(s.Agent, "*?") == "":
		return refuse(interlock.CodeInvalid, "agent", "the glob would take in every agent; name one, or leave it out")
	case s.Command != "" && len(strings.Trim(s.Command, "*? ")) < minPlain:
		return refuse(interlock.CodeInvalid, "command", "the glob would take in nearly every command; name more of it")
	}
	for _, text := range []string{s.Rule, s.Agent, s.Path, s.Command, s.Reason} {
		if len(text) > maxScope {
			return refuse(interlock.CodeInvalid, "scope", "a part of the suppression is too long")
		}
	}
	return nil
}

// Concerns reports whether an order may touch an agent's actions: nobody silences a rule for an agent they own.
func Concerns(s interlock.Suppression, agent string, agents map[string]interlock.AgentRecord) bool {
	owner := agents[agent].Principal
	return !strings.EqualFold(agent, s.Operator) && (owner == "" || !strings.EqualFold(owner, s.Operator))
}
