package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// effects records a command's own impacts.
func (r *shellRun) effects(u *flow.Use, io flow.Streams, adds *know.Words) flow.Flow {
	conditions := looking(u, conditionsOf(u))
	replaced := false
	for _, o := range conditions {
		for _, e := range o.Only {
			replaced = true
			r.effect(u, e, flow.Field{}, io)
		}
	}
	for _, g := range u.Flags {
		for _, e := range g.Option.Only {
			replaced = true
			r.effect(u, e, g.Value, io)
		}
	}
	for _, e := range u.Spec.Impacts {
		if replaced {
			break
		}
		r.effect(u, e, flow.Field{}, io)
	}
	for _, e := range u.Spec.Alone {
		if len(u.Rest) > 0 || runsCode(u) {
			break
		}
		r.effect(u, e, flow.Field{}, io)
	}
	for _, o := range conditions {
		for _, e := range o.Impacts {
			r.effect(u, e, flow.Field{}, io)
		}
	}
	narrowed := slices.ContainsFunc(u.Flags, func(g flow.Given) bool { return g.Option.Looks })
	for _, g := range u.Flags {
		for _, e := range g.Option.Impacts {
			if narrowed && g.Name == "--" { // it only says that operands follow
				break
			}
			r.effect(u, e, g.Value, io)
		}
		switch {
		case g.Option.Method:
			httpMethod(g.Value.Text, adds)
		case g.Option.Mount:
			r.mount(u, g.Value)
		case g.Option.Assign:
			r.assigned(g.Value)
		}
	}
	r.hunts(u)
	r.seeks(u)
	r.disguises(u)
	return flow.Flow{}
}

// looking leaves of the conditions that hold only those that say the use only looks, if it does.
func looking(u *flow.Use, conditions []*know.Option) []*know.Option {
	looks, changes := false, false
	for _, g := range u.Flags {
		looks, changes = looks || g.Option.Looks, changes || g.Option.Changes
	}
	var seen []*know.Option
	for _, o := range conditions {
		if o.Looks && !changes {
			seen = append(seen, o)
		}
	}
	switch {
	case looks || len(seen) > 0:
		return seen
	case !changes:
		return conditions
	}
	return slices.DeleteFunc(slices.Clone(conditions), func(o *know.Option) bool { return o.Looks })
}

func httpMethod(method string, adds *know.Words) {
	switch strings.ToUpper(method) {
	case "", "GET", "HEAD", "OPTIONS":
	case "DELETE":
		adds.Traits = append(adds.Traits, fact.TraitUpload)
		adds.Reversibility = interlock.Irreversible
	}
}

func (r *shellRun) assigned(value flow.Field) {
	name, _, ok := strings.Cut(value.Text, "=")
	if ok && isAssignment(value.Text) {
		r.variable(name, cut(value, len(name)+1))
	}
}

// effect records one impact for each target it names.
func (r *shellRun) effect(u *flow.Use, e know.Effect, value flow.Field, io flow.Streams) {
	base := interlock.Impact{Kind: e.Kind, Via: u.Via, Reversibility: place.UsualReversibility(e.Kind)}
	e.Words.Apply(&base)
	if u.Tree {
		base.Traits = append(base.Traits, fact.TraitRecursive)
	}
	if r.withoutOperands(u, e, base) {
		return
	}
	if e.Flag != "" {
		value = valueOf(u, e.Flag)
		defer func(dir string) { r.S.Dir = dir }(r.S.Dir)
		r.S.Dir = r.from // tar's -C is not where its -f is
	}
	targets := targets(u, e.Target, value)
	if len(targets) == 0 && (e.Alt == "cwd" || u.Tree && u.Spec.Seeks && e.Target == "rest") {
		targets = []flow.Field{flow.Literal(".")}
	}
	if len(targets) == 0 && (e.What == "name" || e.What == "host" || e.What == "url") && e.Target != "value" &&
		e.Target != "second" && e.Target != "rest" && e.Target != "init" && e.Kind != interlock.ImpactSpawn {
		base.Target = u.Via
		r.plain(base)
		return
	}
	if e.Kind != interlock.ImpactRead {
		targets = narrowed(u, targets)
	}
	if e.Kind == interlock.ImpactRead && e.What != "entries" && (keptFrom(u, r.S) || seeksPlain(u)) {
		base.Traits = lex.Without(base.Traits, fact.TraitRecursive)
		targets = withoutDepth(targets)
	}
	names := e.Kind == interlock.ImpactRead && e.What != "entries" && showsNames(u)
	for _, t := range targets {
		if !r.S.Spend(1) {
			return
		}
		one := e
		if e.What == "base" {
			one.What, t = "path", landing(u, t)
		}
		if names && namesFile(t.Text) {
			one.What = "entries"
		}
		r.target(base, one, t)
	}
}

// withoutOperands records an impact whose target the description names, or which is on the command itself. It reports whether it
// is one of these.
func (r *shellRun) withoutOperands(u *flow.Use, e know.Effect, base interlock.Impact) bool {
	switch {
	case e.Fixed != "" && e.What == "path":
		r.S.Touch(e.Fixed, base)
	case e.Fixed != "":
		base.Target = e.Fixed
		r.plain(base)
	case e.Target == "":
		base.Target = u.Via
		r.plain(base)
	case e.Target == "cwd":
		r.S.Touch(".", base)
	case e.What == "clone" || e.What == "landed":
		r.fetched(u, base, e.What)
	default:
		return false
	}
	return true
}

// valueOf is the value given to a flag, by any of its names.
func valueOf(u *flow.Use, name string) flow.Field {
	o := u.Spec.Find(name)
	for _, g := range u.Flags {
		if g.Option == o && o != nil && (!o.Shared || g.Name == name) {
			return g.Value
		}
	}
	return flow.Field{}
}

func targets(u *flow.Use, which string, value flow.Field) []flow.Field {
	n := len(u.Operands)
	switch {
	case which == "value" || which == "flag":
		if value.Text == "" {
			return nil
		}
		return []flow.Field{value}
	case n == 0:
		return nil
	case which == "first":
		return u.Operands[:1]
	case which == "second":
		return u.Operands[1:min(2, n)]
	case which == "last":
		return u.Operands[n-1:]
	case which == "rest":
		return u.Operands[1:]
	case which == "init":
		return u.Operands[:n-1]
	}
	return u.Operands
}

// narrowed restricts directories to the names a search looks for in them.
func narrowed(u *flow.Use, targets []flow.Field) []flow.Field {
	pattern, narrow, files := "", false, false
	negated, pruned := false, false
	for _, g := range u.Flags {
		switch o := g.Option; {
		case o.Sorting && !negated && strings.HasPrefix(g.Value.Text, "f"): // all that is ever lost
			files = true
		case o.Naming && !negated && g.Value.Text != "" && strings.Trim(g.Value.Text, "*") == "":
			files = true
		case o.Narrow:
			narrow = true
			if o.Naming && !negated && pattern == "" && !strings.Contains(g.Value.Text, "/") {
				pattern = g.Value.Text
			}
		case pruned && (g.Name == "-o" || g.Name == "-or"): // what came before says what is left alone
			pattern, narrow, files = "", false, true
		}
		negated = g.Name == "!" || g.Name == "-not"
		pruned = g.Name == "-prune"
	}
	switch {
	case !narrow && !files:
		return targets
	case strings.Trim(pattern, "*") == "":
		pattern = "*?"
	}
	out := make([]flow.Field, len(targets))
	for i, t := range targets {
		t.Text = strings.TrimSuffix(t.Text, "/") + "/" + pattern
		t.Glob, t.All, t.Depth = true, !narrow, place.NamedBelow
		out[i] = t
	}
	return out
}

// plain records an impact whose target is a name.
func (r *shellRun) plain(i interlock.Impact) {
	if i.Reach == "" {
		i.Reach = usualReach(i.Kind)
	}
	r.S.Add(i)
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
func (r *shellRun) target(i interlock.Impact, e know.Effect, t flow.Field) {
	switch e.What {
	case "remote":
		if isRemote(t.Text) {
			e.What = "host"
			r.target(i, e, t)
		}
		return
	case "host", "url":
		if rest, ok := strings.CutPrefix(t.Text, "file://"); ok {
			i.Kind = interlock.ImpactRead
			t.Text = rest
			r.S.TouchPlace(r.PlaceOf(t, true), i)
			return
		}
		i = r.toHost(i, e, t)
	case "address":
		if !isPackageAddress(t.Text) {
			return
		}
		i.Target = know.CleanURL(t.Text)
	case "name":
		i.Target = t.Text
		if r.S.Production(t.Text) {
			i.Reach = interlock.ReachProduction
		} else if r.S.Staging(t.Text) {
			i.Traits = append(i.Traits, fact.TraitStaging)
		}
	case "registry":
		t.Text = r.strangest(settingValue(t.Text))
		i = r.registry(r.toHost(i, know.Effect{What: "url"}, t), t)
	case "image":
		i.Target = t.Text
		if r.strangersImage(t) {
			i.Traits = append(i.Traits, fact.TraitForeign, fact.TraitDownload)
		}
	default:
		r.targetHere(i, e.What, t)
		return
	}
	r.named(i, t)
}

// targetHere records an impact on one argument that names a place on this machine, in the way what says.
func (r *shellRun) targetHere(i interlock.Impact, what string, t flow.Field) {
	switch what {
	case "local":
		if !isRemote(t.Text) {
			r.pathTarget(i, t)
		}
	case "rev": // revision:path, or mode,object,path
		if parts := strings.SplitN(t.Text, ",", 3); len(parts) == 3 && len(parts[0]) == 6 {
			t.Text, t.Lead = parts[2], false
			r.pathTarget(i, t)
		} else if _, name, ok := strings.Cut(t.Text, ":"); ok && name != "" && name[0] != '/' {
			t.Text, t.Lead = name, false
			r.pathTarget(i, t)
		}
	case "data":
		r.dataTarget(i, t)
	case "pair": // name@file, or words to be encoded
		if name, after, ok := strings.Cut(t.Text, "@"); ok && !strings.ContainsAny(name, "= ") {
			t.Text = "@" + after
		}
		r.dataTarget(i, t)
	case "site": // the folder that is called like an address's host
		t.Text, _, _ = strings.Cut(place.HostOf(t.Text), ":")
		t.Lead = false
		r.S.TouchPlace(r.PlaceOf(t, true), i)
	case "entries": // names only: listing a secret store reveals no secret
		p := r.PlaceOf(t, true)
		p.Traits, p.Listed = lex.Without(p.Traits, fact.TraitSecret), true
		r.S.TouchPlace(p, i)
	case "folder":
		r.S.TouchPlace(place.EmptyFolder(r.PlaceOf(t, true)), i)
	default:
		r.pathTarget(i, t)
	}
}

// named records an impact on what an argument names, which may not be known.
func (r *shellRun) named(i interlock.Impact, t flow.Field) {
	if everyone := i.Kind == interlock.ImpactSpawn &&
		(t.Flow.Everyone || t.Glob && (r.Rounds > 0 || strings.HasPrefix(t.Text, "/proc/"))); t.Dynamic || everyone {
		i.Confidence = interlock.Inferred
		i.Traits = append(i.Traits, fact.TraitDynamic)
		if everyone || r.Rounds > 0 && i.Kind == interlock.ImpactSpawn {
			i.Traits = append(i.Traits, fact.TraitRepeated)
		}
	}
	if i.Kind == interlock.ImpactSpawn && r.ours(i.Via, t) {
		i.Reach = interlock.ReachSelf
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
func (r *shellRun) toHost(i interlock.Impact, e know.Effect, t flow.Field) interlock.Impact {
	reach, traits := r.S.Host(t.Text)
	// the address is what is said to the server
	if strings.HasPrefix(t.Text, "gopher://") || strings.HasPrefix(t.Text, "dict://") {
		traits = append(traits[:len(traits):len(traits)], fact.TraitUpload, fact.TraitInjection)
		i.Reversibility = interlock.Irreversible
	}
	if i.Reach == "" {
		i.Reach = reach
	}
	i.Traits = append(i.Traits, traits...)
	if t.Flow.Encoded {
		i.Traits = append(i.Traits, fact.TraitObfuscated)
	}
	i.Target = know.CleanURL(t.Text)
	if e.What == "host" {
		i.Target = place.HostOf(t.Text)
	}
	return i
}

// dataTarget records an impact on what is sent: @file is a file, anything else the data itself.
func (r *shellRun) dataTarget(i interlock.Impact, t flow.Field) {
	name, at := strings.CutPrefix(t.Text, "@")
	if _, after, ok := strings.Cut(t.Text, "=@"); ok && !at {
		name, at = after, true
	}
	name, _, _ = strings.Cut(name, ";")
	if strings.HasSuffix(t.Text, "=<-") {
		name, at = "-", true
	}
	if name == "-" || name == "/dev/stdin" {
		r.sent = r.sent || at
		return
	}
	if !at || name == "" {
		return
	}
	t.Text = name
	r.sent = true
	r.pathTarget(i, t)
}

// isRemote reports whether an operand is host:path or rsync://host/path.
func isRemote(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !lex.IsDrive(text) && !strings.Contains(text[:colon], "/")
}

func (r *shellRun) pathTarget(i interlock.Impact, t flow.Field) {
	if t.Text == "-" && !t.Dynamic {
		return
	}
	if t.All && i.Kind == interlock.ImpactDelete {
		t.Text = strings.TrimSuffix(t.Text, "?")
	}
	p := r.PlaceOf(t, true)
	if place.QuietDevice(p.Path) {
		return
	}
	if peer, ok := flow.NetworkDevice(p.Path); ok {
		reach, traits := r.S.Host(peer)
		r.S.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: place.HostOf(peer), Reach: reach, Via: i.Via,
			Reversibility: interlock.Window, Traits: traits})
		return
	}
	if i.Kind == interlock.ImpactDelete && strings.HasSuffix(t.Text, "/.") || t.Text == "./" {
		p.Confidence = interlock.Parsed
	}
	if i.Kind == interlock.ImpactRead {
		r.reads = true
		r.outside = r.outside || r.S.Foreign(p)
	}
	r.S.TouchPlace(p, i)
}
