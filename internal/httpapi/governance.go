package httpapi

import (
	"regexp"
	"strings"

	"interlock"
	"sync"
)

// governed are the paths behind which other products answer approvals, change rules or identities, or stop the system.
// Here nothing is behind them: they exist so that a try is refused and recorded as what it is, not as a wrong path.
var governed = []string{"approvals", "approve", "deny", "pending", "requests", "vote", "verify", "operators", "agents",
	"keys", "rules", "rulesets", "mode", "profile", "pause", "resume", "kill", "quarantine", "phase", "override",
	"actionrequest", "superadmin", "governance", "module", "dsr", "apt", "admin", "replay"}

func governs(path string) bool {
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok { // the paths of MACE and its companions; what people send there they send to the control door
		for _, prefix := range []string{"/safety/override", "/governance/", "/superadmin/", "/actionrequest/", "/module/", "/dsr/", "/apt/",
			"/admin/", "/replay/"} {
			ok = ok || strings.HasPrefix(path, prefix)
		}
		return ok
	}
	first, _, _ := strings.Cut(rest, "/")
	for _, name := range governed {
		if first == name {
			return true
		}
	}
	return false
}

// requestIDs is the form of a request id; anything else in a path is not repeated into the log.
var requestIDs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`apr_[0-9a-f]{12}`)
})

// governance refuses and records an attempt to govern through a door that agents use. Operators use the command line,
// where an answer is signed (ASA 8.3, AQL-8.7.3: the blocked agent may not approve).
func (x *exchange) governance() {
	if err := x.authenticate(); err != nil {
		x.unauthenticated(err)
		return
	}
	if !x.enter() {
		return
	}
	defer x.leave()
	refusal := interlock.Errorf(interlock.CodeUnauthorized, "",
		"agents can't answer approvals or change how Interlock works; an operator does, with `interlock approve` and its siblings")
	ctx, cancel := x.decisionContext()
	defer cancel()
	request := requestIDs().FindString(x.r.URL.Path)
	if _, err := x.server.config.Backend.RefuseApproval(ctx, "agent", x.who, request, refusal); err != nil {
		x.server.config.Logger.ErrorContext(ctx, "an attempt to govern could not be recorded", "agent", x.who)
	}
	x.fail(refusal)
}
