package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
)

// remoteSet stands for the address of a repository's remote, among the files an action wrote; a remote that was added has
// its name behind it.
const remoteSet = "remote of git"

// remotes notes which remotes a command gives an address outside: one added or configured, or named for this command alone.
// The first remote of a new repository is called origin, and is where its owner wants it.
func (r *shellRun) remotes(u *flow.Use, own []interlock.Impact) {
	if !strings.HasPrefix(u.Via, "git") {
		return
	}
	for _, g := range u.Flags {
		if g.Name == "-c" {
			r.remoteSetting(g.Value)
		}
	}
	switch {
	case strings.HasPrefix(u.Via, "git remote add") && len(u.Operands) > 1:
		r.remote(u.Operands[0].Text, u.Operands[1], own)
	case strings.HasPrefix(u.Via, "git config") && len(u.Operands) > 1:
		key := u.Operands[len(u.Operands)-2].Text
		r.remoteSetting(flow.Join(flow.Literal(key+"="), u.Operands[len(u.Operands)-1]))
	}
}

// remoteSetting notes remote.NAME.url=ADDRESS and its kind.
func (r *shellRun) remoteSetting(setting flow.Field) {
	key, address, ok := strings.Cut(setting.Text, "=")
	rest, remote := strings.CutPrefix(strings.ToLower(key), "remote.")
	if !ok || !remote || !strings.HasSuffix(rest, ".url") && !strings.HasSuffix(rest, ".pushurl") {
		return
	}
	name := rest[:strings.LastIndexByte(rest, '.')]
	if r.leadsOutside(address) {
		r.files[remoteSet+" "+name] = flow.Flow{Written: true}
	}
}

// remote notes one that was added, and says its name in what is found, so that a later push to it is recognised.
func (r *shellRun) remote(name string, address flow.Field, own []interlock.Impact) {
	if name == "origin" || !r.leadsOutside(address.Text) {
		return
	}
	r.files[remoteSet+" "+name] = flow.Flow{Written: true}
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
	case i.Kind == interlock.ImpactConfigure && strings.HasPrefix(i.Via, "git remote") && strings.Contains(i.Via, "set-url"):
		r.files[remoteSet] = flow.Flow{Written: true}
	case i.Kind != interlock.ImpactNetwork || !strings.HasPrefix(i.Via, "git push") && !strings.HasPrefix(i.Via, "git send-pack"):
	case r.files[remoteSet].Written || r.files[remoteSet+" "+strings.ToLower(i.Target)].Written:
		i.Traits = append(i.Traits, fact.TraitRedirected)
	}
}
