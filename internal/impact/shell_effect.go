package impact

import (
	"path"
	"slices"
	"strings"

	"interlock"
)

// effects records a command's own impacts.
func (r *shellRun) effects(u *use, io streams, adds *words) flow {
	conditions := u.looking(u.spec.conditions(u.words()))
	replaced := false
	for _, o := range conditions {
		for _, e := range o.only {
			replaced = true
			r.effect(u, e, field{}, io)
		}
	}
	for _, g := range u.flags {
		for _, e := range g.option.only {
			replaced = true
			r.effect(u, e, g.value, io)
		}
	}
	for _, e := range u.spec.impacts {
		if replaced {
			break
		}
		r.effect(u, e, field{}, io)
	}
	for _, e := range u.spec.alone {
		if len(u.rest) > 0 || runsCode(u) {
			break
		}
		r.effect(u, e, field{}, io)
	}
	for _, o := range conditions {
		for _, e := range o.impacts {
			r.effect(u, e, field{}, io)
		}
	}
	for _, g := range u.flags {
		for _, e := range g.option.impacts {
			r.effect(u, e, g.value, io)
		}
		switch {
		case g.option.method:
			httpMethod(g.value.text, adds)
		case g.option.mount:
			r.mount(u, g.value)
		case g.option.assign:
			r.assigned(g.value)
		}
	}
	r.hunts(u)
	r.seeks(u)
	r.disguises(u)
	return flow{}
}

// looking leaves of the conditions that hold only those that say the use only looks, if it does.
func (u *use) looking(conditions []*option) []*option {
	looks, changes := false, false
	for _, g := range u.flags {
		looks, changes = looks || g.option.looks, changes || g.option.changes
	}
	var seen []*option
	for _, o := range conditions {
		if o.looks && !changes {
			seen = append(seen, o)
		}
	}
	switch {
	case looks || len(seen) > 0:
		return seen
	case !changes:
		return conditions
	}
	return slices.DeleteFunc(slices.Clone(conditions), func(o *option) bool { return o.looks })
}

func httpMethod(method string, adds *words) {
	switch strings.ToUpper(method) {
	case "", "GET", "HEAD", "OPTIONS":
	case "DELETE":
		adds.traits = append(adds.traits, TraitUpload)
		adds.reversibility = interlock.Irreversible
	}
}

func (r *shellRun) assigned(value field) {
	name, _, ok := strings.Cut(value.text, "=")
	if ok && isAssignment(value.text) {
		r.variable(name, cut(value, len(name)+1))
	}
}

// effect records one impact for each target it names.
func (r *shellRun) effect(u *use, e effect, value field, io streams) {
	base := interlock.Impact{Kind: e.kind, Via: u.via, Reversibility: usualReversibility(e.kind)}
	e.words.apply(&base)
	if u.tree {
		base.Traits = append(base.Traits, TraitRecursive)
	}
	switch {
	case e.fixed != "" && e.what == "path":
		r.s.touch(e.fixed, base)
		return
	case e.fixed != "":
		base.Target = e.fixed
		r.plain(base)
		return
	case e.target == "":
		base.Target = u.via
		r.plain(base)
		return
	case e.target == "cwd":
		r.s.touch(".", base)
		return
	case e.what == "clone" || e.what == "landed":
		r.fetched(u, base, e.what)
		return
	}
	if e.flag != "" {
		value = u.value(e.flag)
	}
	targets := u.targets(e.target, value)
	if len(targets) == 0 && (e.alt == "cwd" || u.tree && u.spec.seeks && e.target == "rest") {
		targets = []field{literal(".")}
	}
	if len(targets) == 0 && (e.what == "name" || e.what == "host" || e.what == "url") && e.target != "value" &&
		e.target != "second" && e.target != "rest" && e.target != "init" && e.kind != interlock.ImpactSpawn {
		base.Target = u.via
		r.plain(base)
		return
	}
	if e.kind != interlock.ImpactRead {
		targets = narrowed(u, targets)
	}
	if e.kind == interlock.ImpactRead && e.what != "entries" && u.keptFrom(r.s) {
		base.Traits = without(base.Traits, TraitRecursive)
	}
	for _, t := range targets {
		if !r.s.spend(1) {
			return
		}
		r.target(base, e, t)
	}
}

// value is the value given to a flag, by any of its names.
func (u *use) value(name string) field {
	o := u.spec.find(name)
	for _, g := range u.flags {
		if g.option == o && o != nil && (!o.shared || g.name == name) {
			return g.value
		}
	}
	return field{}
}

func (u *use) targets(which string, value field) []field {
	n := len(u.operands)
	switch {
	case which == "value" || which == "flag":
		if value.text == "" {
			return nil
		}
		return []field{value}
	case n == 0:
		return nil
	case which == "first":
		return u.operands[:1]
	case which == "second":
		return u.operands[1:min(2, n)]
	case which == "last":
		return u.operands[n-1:]
	case which == "rest":
		return u.operands[1:]
	case which == "init":
		return u.operands[:n-1]
	}
	return u.operands
}

// narrowed restricts directories to the names a search looks for in them.
func narrowed(u *use, targets []field) []field {
	pattern, narrow, files := "", false, false
	negated, pruned := false, false
	for _, g := range u.flags {
		switch o := g.option; {
		case o.sorting && !negated && strings.HasPrefix(g.value.text, "f"): // all that is ever lost
			files = true
		case o.naming && !negated && g.value.text != "" && strings.Trim(g.value.text, "*") == "":
			files = true
		case o.narrow:
			narrow = true
			if o.naming && !negated && pattern == "" && !strings.Contains(g.value.text, "/") {
				pattern = g.value.text
			}
		case pruned && (g.name == "-o" || g.name == "-or"): // what came before says what is left alone
			pattern, narrow, files = "", false, true
		}
		negated = g.name == "!" || g.name == "-not"
		pruned = g.name == "-prune"
	}
	switch {
	case !narrow && !files:
		return targets
	case strings.Trim(pattern, "*") == "":
		pattern = "*?"
	}
	out := make([]field, len(targets))
	for i, t := range targets {
		t.text = strings.TrimSuffix(t.text, "/") + "/" + pattern
		t.glob, t.all, t.depth = true, !narrow, namedBelow
		out[i] = t
	}
	return out
}

// plain records an impact whose target is a name.
func (r *shellRun) plain(i interlock.Impact) {
	if i.Reach == "" {
		i.Reach = usualReach(i.Kind)
	}
	r.s.add(i)
}

// usualReach is how far an impact of a kind goes when nothing says where.
func usualReach(kind interlock.ImpactKind) interlock.Reach {
	switch kind {
	case interlock.ImpactNetwork, interlock.ImpactMessage, interlock.ImpactSpend:
		return interlock.ReachExternal
	case interlock.ImpactPrivilege, interlock.ImpactConfigure:
		return interlock.ReachSystem
	case interlock.ImpactPersist, interlock.ImpactCredential:
		return interlock.ReachHome
	}
	return interlock.ReachWorkspace
}

// target records an impact on one argument.
func (r *shellRun) target(i interlock.Impact, e effect, t field) {
	switch e.what {
	case "remote":
		if !isRemote(t.text) {
			return
		}
		e.what = "host"
		r.target(i, e, t)
		return
	case "local":
		if !isRemote(t.text) {
			r.pathTarget(i, t)
		}
		return
	case "host", "url":
		if rest, ok := strings.CutPrefix(t.text, "file://"); ok {
			i.Kind = interlock.ImpactRead
			t.text = rest
			r.s.touchPlace(r.placeOf(t, true), i)
			return
		}
		i = r.toHost(i, e, t)
	case "rev": // revision:path
		if _, name, ok := strings.Cut(t.text, ":"); ok && name != "" && name[0] != '/' {
			t.text, t.lead = name, false
			r.pathTarget(i, t)
		}
		return
	case "address":
		if !isPackageAddress(t.text) {
			return
		}
		i.Target = cleanURL(t.text)
	case "name":
		i.Target = t.text
		if r.s.production(t.text) {
			i.Reach = interlock.ReachProduction
		}
	case "data":
		r.dataTarget(i, t)
		return
	case "pair": // name@file, or words to be encoded
		if name, after, ok := strings.Cut(t.text, "@"); ok && !strings.ContainsAny(name, "= ") {
			t.text = "@" + after
		}
		r.dataTarget(i, t)
		return
	case "registry":
		r.named(r.registry(r.toHost(i, effect{what: "url"}, t), t), t)
		return
	case "base": // the file a URL's last part names, here
		name := path.Base(strings.TrimRight(cleanURL(t.text), "/"))
		t.text, t.lead = name, false
		r.s.touchPlace(r.placeOf(t, true), i)
		return
	case "entries": // names only: listing a secret store reveals no secret
		p := r.placeOf(t, true)
		p.Traits, p.listed = without(p.Traits, TraitSecret), true
		r.s.touchPlace(p, i)
		return
	case "folder":
		r.s.touchPlace(emptyFolder(r.placeOf(t, true)), i)
		return
	default:
		r.pathTarget(i, t)
		return
	}
	r.named(i, t)
}

// named records an impact on what an argument names, which may not be known.
func (r *shellRun) named(i interlock.Impact, t field) {
	if t.dynamic {
		i.Confidence = interlock.Inferred
		i.Traits = append(i.Traits, TraitDynamic)
		if r.rounds > 0 && i.Kind == interlock.ImpactSpawn {
			i.Traits = append(i.Traits, TraitRepeated)
		}
	}
	r.plain(i)
}

// isPackageAddress reports whether what names a package is the place to fetch it from, and no name a registry knows.
func isPackageAddress(text string) bool {
	if _, at, ok := strings.Cut(text, "@"); ok && strings.Contains(at, "://") { // name @ address
		text = strings.TrimSpace(at)
	}
	if strings.HasPrefix(text, "file:") {
		return false
	}
	for _, prefix := range [...]string{"git+", "git@", "github:", "gitlab:", "bitbucket:", "gist:"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return strings.Contains(text, "://")
}

// toHost is an impact on the host or address an argument names.
func (r *shellRun) toHost(i interlock.Impact, e effect, t field) interlock.Impact {
	reach, traits := r.s.host(t.text)
	if strings.HasPrefix(t.text, "gopher://") || strings.HasPrefix(t.text, "dict://") { // the address is what is said to the server
		traits = append(traits[:len(traits):len(traits)], TraitUpload, TraitInjection)
		i.Reversibility = interlock.Irreversible
	}
	if i.Reach == "" {
		i.Reach = reach
	}
	i.Traits = append(i.Traits, traits...)
	if t.flow.encoded {
		i.Traits = append(i.Traits, TraitObfuscated)
	}
	i.Target = cleanURL(t.text)
	if e.what == "host" {
		i.Target = hostOf(t.text)
	}
	return i
}

// dataTarget records an impact on what is sent: @file is a file, anything else the data itself.
func (r *shellRun) dataTarget(i interlock.Impact, t field) {
	name, at := strings.CutPrefix(t.text, "@")
	if _, after, ok := strings.Cut(t.text, "=@"); ok && !at {
		name, at = after, true
	}
	name, _, _ = strings.Cut(name, ";")
	if strings.HasSuffix(t.text, "=<-") {
		name, at = "-", true
	}
	if name == "-" || name == "/dev/stdin" {
		r.sent = r.sent || at
		return
	}
	if !at || name == "" {
		return
	}
	t.text = name
	r.sent = true
	r.pathTarget(i, t)
}

// isRemote reports whether an operand is host:path or rsync://host/path.
func isRemote(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !isDrive(text) && !strings.Contains(text[:colon], "/")
}

func (r *shellRun) pathTarget(i interlock.Impact, t field) {
	if t.text == "-" && !t.dynamic {
		return
	}
	if t.all && i.Kind == interlock.ImpactDelete {
		t.text = strings.TrimSuffix(t.text, "?")
	}
	p := r.placeOf(t, true)
	if quietDevice(p.Path) {
		return
	}
	if peer, ok := networkDevice(p.Path); ok {
		reach, traits := r.s.host(peer)
		r.s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: hostOf(peer), Reach: reach, Via: i.Via,
			Reversibility: interlock.Window, Traits: traits})
		return
	}
	if i.Kind == interlock.ImpactDelete && strings.HasSuffix(t.text, "/.") || t.text == "./" {
		p.Confidence = interlock.Parsed
	}
	if i.Kind == interlock.ImpactRead {
		r.reads = true
		r.outside = r.outside || r.s.foreign(p)
	}
	r.s.touchPlace(p, i)
}

func without(list []string, drop string) []string {
	out := make([]string, 0, len(list))
	for _, item := range list {
		if item != drop {
			out = append(out, item)
		}
	}
	return out
}
