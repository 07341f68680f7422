package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
)

// mount judges host-path:container-path, or the same as key=value pairs: what runs inside may write what is mounted, and
// the paths it names there are paths here.
func (r *shellRun) mount(u *flow.Use, value flow.Field) {
	host, rest, _ := strings.Cut(value.Text, ":")
	inside, options, _ := strings.Cut(rest, ":")
	readonly := false
	for _, option := range strings.Split(options, ",") {
		readonly = readonly || option == "ro" || option == "readonly"
	}
	if strings.Contains(value.Text, "=") && strings.Contains(value.Text, ",") {
		for _, part := range strings.Split(value.Text, ",") {
			switch key, name, _ := strings.Cut(part, "="); key {
			case "source", "src":
				host = name
			case "target", "dst", "destination":
				inside = name
			case "readonly", "ro":
				readonly = name != "false"
			}
		}
	}
	if value.Lead || host == "" || host[0] != '/' && host[0] != '.' && host[0] != '~' {
		return // a named volume, or a path that is not known
	}
	kind := interlock.ImpactWrite
	if readonly {
		kind = interlock.ImpactRead
	}
	value.Text = host
	p := r.PlaceOf(value, true)
	r.S.TouchPlace(p, interlock.Impact{Kind: kind, Via: u.Via, Traits: []string{fact.TraitRemote}})
	if inside = path.Clean("/" + inside); inside != "/" && p.Path != "" && !value.Dynamic {
		u.Mounts = append(u.Mounts, place.Mounted{Inside: inside, Outside: p.Path})
	}
}
