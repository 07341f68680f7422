package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// sendsNamedSecret returns the variable, named as what holds a secret, that goes to a host outside that is not the
// one it is for. A service may be sent its own token: the host bears the name, or the variable names nobody and
// is in a header.
func (r *shellRun) sendsNamedSecret(u *flow.Use, own []interlock.Impact) string {
	host := ""
	for i := range own {
		one := &own[i]
		if one.Kind == interlock.ImpactNetwork && one.Reach != interlock.ReachWorkspace && !one.Has(fact.TraitListen) &&
			!one.Has(fact.TraitInside) {
			host = place.HostOf(one.Target)
			break
		}
	}
	if host == "" {
		return ""
	}
	for _, f := range u.Operands {
		if name := foreignSecret(f.Text, host, false); name != "" && r.S.Spend(1) {
			return "$" + name
		}
		if r.S.Spend(len(f.Text)/64) && (web.OthersToken(f.Text, host, false) || web.TellsToken(f.Text, host)) {
			return "a token"
		}
	}
	for _, f := range u.Rest { // what another host is given to run
		if name := foreignSecret(f.Text, host, false); f.Dynamic && name != "" && r.S.Spend(1) {
			return "$" + name
		}
	}
	for _, g := range u.Flags {
		identifies := slices.Contains([]string{"-H", "--header", "-u", "--user", "--oauth2-bearer", "--proxy-user", "--cert",
			"--key", "--password"}, g.Name)
		if name := foreignSecret(g.Value.Text, host, identifies); name != "" && r.S.Spend(1) {
			return "$" + name
		}
		if r.S.Spend(len(g.Value.Text)/64) && web.OthersToken(g.Value.Text, host, identifies) {
			return "a token"
		}
	}
	return ""
}

// foreignSecret returns the secret that a text names, as $NAME, and that is not for a host's service. Where the text only
// says who asks, as a header does, nothing but the name of another service counts.
func foreignSecret(text, host string, identifies bool) string {
	for at := strings.IndexByte(text, '$'); at >= 0 && at+1 < len(text); {
		rest := strings.TrimPrefix(text[at+1:], "{")
		end := 0
		for end < len(rest) && (lex.IsNameStart(rest[end]) || rest[end] >= '0' && rest[end] <= '9') {
			end++
		}
		if web.OthersSecret(rest[:end], host, identifies) {
			return rest[:end]
		}
		next := strings.IndexByte(text[at+1:], '$')
		if next < 0 {
			return ""
		}
		at += 1 + next
	}
	return ""
}
