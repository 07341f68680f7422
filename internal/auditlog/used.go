package auditlog

import (
	"slices"
	"strings"

	"interlock"
)

// Used is which tools an action uses, and the programs it runs, and which hosts it reaches for: by name, and without anything else that
// the action says.
func (d *DecisionRecord) Used() (tools, places []string) {
	action := &d.Proposal.Action
	tool := action.Tool
	if tool == "" || action.Kind == interlock.KindShell { // which harnesses call what they like
		tool = string(action.Kind)
	}
	tools = []string{tool}
	for n := range d.Decision.Impacts {
		i := &d.Decision.Impacts[n]
		if program, _, _ := strings.Cut(i.Via, " "); program != "" && action.Kind == interlock.KindShell {
			tools = withName(tools, program)
		}
		if i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction {
			if host := hostOf(i.Target); host != "" {
				places = withName(places, host)
			}
		}
	}
	return tools, places
}

func withName(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// hostOf is the host that a target names, without anything else of it, such as whose mailbox it is; nothing where it names none.
func hostOf(target string) string {
	_, rest, url := strings.Cut(target, "://")
	if !url {
		rest = target
	}
	rest, _, _ = strings.Cut(rest, "/")
	rest = rest[strings.LastIndex(rest, "@")+1:]
	if host, port, found := strings.Cut(rest, ":"); found && !strings.Contains(port, ":") {
		rest = host
	}
	if rest == "" || strings.ContainsAny(rest, " \t\r\n$`*'\"\\") {
		return ""
	}
	return strings.ToLower(rest)
}
