package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
)

// remoteSet represents the address of a repository's remote, among the files an action wrote; a remote that was added has
// its name behind it.
const remoteSet = "remote of git"

// remoteNew represents a repository that this action makes, which has no remote yet.
const remoteNew = "new repository of git"

// remotes notes which remotes a command gives an address outside: one added or configured, or named for this command alone,
// by an option or by a variable of the environment. The first remote of a new repository is called origin, and is where its
// owner wants it.
func (r *shellRun) remotes(u *flow.Use, own []interlock.Impact) {
	if !strings.HasPrefix(u.Via, "git") {
		return
	}
	for _, g := range u.Flags {
		switch {
		case g.Name == "-c" || strings.HasPrefix(g.Name, "$GIT_CONFIG_"):
			r.remoteSetting(g.Value)
		case g.Name == "--config-env": // the address is in a variable
			key, name, _ := strings.Cut(g.Value.Text, "=")
			value, known := r.lookup(name)
			if !known {
				value = flow.Field{Text: "$" + name, Dynamic: true, Lead: true}
			}
			r.remoteSetting(flow.Join(flow.Literal(key+"="), value))
		}
	}
	n := len(u.Operands)
	switch {
	case strings.HasPrefix(u.Via, "git init"):
		r.files[remoteNew] = flow.Flow{Written: true}
	case strings.HasPrefix(u.Via, "git remote add") && n > 1:
		r.remote(u.Operands[0].Text, u.Operands[1], own)
	case strings.HasPrefix(u.Via, "git remote set-url") && n > 1:
		if r.leadsOutside(u.Operands[1].Text) {
			r.files[remoteSet] = flow.Flow{Written: true}
			redirects(own)
		}
	case strings.HasPrefix(u.Via, "git config") && n > 1 && len(own) > 0 && own[0].Kind != interlock.ImpactRead:
		if r.remoteSetting(flow.Join(flow.Literal(u.Operands[n-2].Text+"="), u.Operands[n-1])) {
			redirects(own)
		}
	}
}

// redirects says of a setting that it changes where pushes go, so that a push in a later action is recognised.
func redirects(own []interlock.Impact) {
	for i := range own {
		if own[i].Kind == interlock.ImpactConfigure {
			own[i].Traits = append(own[i].Traits[:len(own[i].Traits):len(own[i].Traits)], fact.TraitRedirected)
		}
	}
}

// remoteSetting notes a setting that sends pushes to an address outside, and reports whether it is one: the address of a remote,
// the remote of a branch or of all pushes, or a host that is used for another one.
func (r *shellRun) remoteSetting(setting flow.Field) bool {
	key, value, ok := strings.Cut(setting.Text, "=")
	if rest, stands := strings.CutPrefix(setting.Text, "url."); stands {
		return r.standsFor(rest)
	}
	section, name, key := settingParts(key)
	switch {
	case !ok:
		return false
	case section == "remote" && (key == "url" || key == "pushurl"):
		if !r.leadsOutside(value) || name == "origin" && r.files[remoteNew].Written {
			return false
		}
		if r.files[remoteSet+" "+name] = (flow.Flow{Written: true}); name == "origin" {
			r.files[remoteSet] = flow.Flow{Written: true}
		}
		return true
	case section == "branch" && (key == "remote" || key == "pushremote"), section == "remote" && name == "" && key == "pushdefault":
		if r.files[remoteSet+" "+strings.ToLower(value)].Written || strings.Contains(value, ":") && r.leadsOutside(value) {
			r.files[remoteSet] = flow.Flow{Written: true}
			return true
		}
	}
	return false
}

// settingParts splits a setting's key into its section, the name in the middle, if there is one, and the last part.
func settingParts(key string) (section, name, last string) {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
		return section, rest[:dot], rest[dot+1:]
	}
	return section, "", rest
}

// standsFor judges url.ADDRESS.insteadOf=OTHER: what is meant for another host goes to that address. The same host spelled in
// another way, as with a token or by another protocol, is none.
func (r *shellRun) standsFor(text string) bool {
	at := strings.LastIndex(strings.ToLower(text), "insteadof=")
	if at < 0 {
		return false
	}
	address, other := text[:at], text[at+len("insteadof="):]
	address = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(address, "push"), "Push"), ".")
	if !r.leadsOutside(address) || place.HostOf(address) == place.HostOf(other) {
		return false
	}
	r.files[remoteSet] = flow.Flow{Written: true}
	return true
}

// remote notes one that was added, and says its name in what is found, so that a later push to it is recognised.
func (r *shellRun) remote(name string, address flow.Field, own []interlock.Impact) {
	if name == "origin" || !r.leadsOutside(address.Text) {
		return
	}
	r.files[remoteSet+" "+strings.ToLower(name)] = flow.Flow{Written: true}
	for i := range own {
		if own[i].Kind == interlock.ImpactConfigure {
			own[i].Target = name
		}
	}
}

// leadsOutside reports whether the address of a remote is no folder and nothing on this machine.
func (r *shellRun) leadsOutside(address string) bool {
	if strings.HasPrefix(address, "/") || strings.HasPrefix(address, ".") || strings.HasPrefix(address, "file:") {
		return false
	}
	reach, _ := r.S.Host(address)
	return reach != interlock.ReachWorkspace
}

// redirected marks a push after this action has changed where pushes go.
func (r *shellRun) redirected(i *interlock.Impact) {
	switch {
	case i.Kind != interlock.ImpactNetwork || !strings.HasPrefix(i.Via, "git push") && !strings.HasPrefix(i.Via, "git send-pack"):
	case r.files[remoteSet].Written || r.files[remoteSet+" "+strings.ToLower(i.Target)].Written:
		i.Traits = append(i.Traits, fact.TraitRedirected)
	}
}
