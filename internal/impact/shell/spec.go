package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// Described runs a command the knowledge describes.
func (r *shellRun) Described(spec *know.Command, args []flow.Field, io flow.Streams) flow.Flow {
	return r.Use(r.read(spec, args[1:]), args, io)
}

// Use judges one use of a described command, whose arguments have been sorted.
func (r *shellRun) Use(u *flow.Use, args []flow.Field, io flow.Streams) flow.Flow {
	spec := u.Spec
	calledAs(u, args[0])
	leaves(u)
	r.obeyed(u)
	dir, from := r.S.Dir, r.from
	r.from = dir
	defer func() { r.S.Dir, r.from = dir, from }()
	adds, dry, none := r.modifiers(u)
	r.signsIn(u, io.In.Token)
	if (none || u.Asked || listsOnly(u, args)) && !runsCode(u) && u.Rest == nil {
		return flow.Flow{}
	}
	u.Tree = slices.Contains(adds.Traits, fact.TraitRecursive)
	if args[0].Odd {
		adds.Traits = append(adds.Traits, fact.TraitObfuscated)
	}
	if r.poses(u, io.In) {
		adds.Traits = append(adds.Traits, fact.TraitImpersonation)
	}
	if dry {
		adds.Traits = append(adds.Traits, fact.TraitDryRun)
		adds.Reversibility = interlock.Readonly
	}
	r.scope(u, &adds)
	r.standsInRepository(u)
	own, out := r.ownImpacts(u, args, io, &adds, dry)
	r.remotes(u, own)
	carried := r.settle(own, io)
	r.fills(u, own, io)
	if spec.Copies {
		r.copies(u, io.In)
	}
	r.ownCopies(u)
	if spec.Links && len(u.Operands) == 2 { // only now: making a link changes the link, not what it points at
		r.becomesRepository(u, u.Operands[0], u.Operands[1])
		r.link(u.Operands[0], u.Operands[1])
	}
	var ran flow.Flow
	inherited := runTraits(adds, dry)
	inherited.Reach = u.Reach
	r.S.Modified(inherited, func() { r.S.InContainer(u.Mounts, func() { ran = r.payloads(u, args, io) }) })
	carried.Taint(ran)
	return r.output(u, out, ran, carried, io)
}

// ownImpacts are what the command itself does, with all that its flags, its words and its input add to that.
func (r *shellRun) ownImpacts(u *flow.Use, args []flow.Field, io flow.Streams, adds *know.Words, dry bool,
) (own []interlock.Impact, out flow.Flow) {
	r.outside, r.sent, r.reads = false, false, false
	own = r.S.Capture(func() { out = r.effects(u, io, adds) })
	if r.sent || u.Spec.Sends && sendsInput(io) {
		adds.Traits = append(adds.Traits, fact.TraitUpload)
	}
	if r.guesses(u) {
		adds.Traits = append(adds.Traits, fact.TraitPassword, fact.TraitRepeated)
	}
	empties, posts := r.empties(u, io), posts(u) || u.Spec.Sends
	for i := range own {
		adds.Apply(&own[i])
		if empties && own[i].Kind == interlock.ImpactWrite && own[i].Has(fact.TraitOverwrite) {
			r.emptied(&own[i], dry)
		}
		if own[i].Kind != interlock.ImpactNetwork {
			continue
		}
		if posts {
			r.posted(u, &own[i], adds)
		}
		if own[i].Reach == interlock.ReachExternal && !dry && web.Speaks(own[i].Target, posts || body(u) != "" || r.sent) {
			r.S.Add(interlock.Impact{Kind: interlock.ImpactMessage, Target: place.HostOf(own[i].Target),
				Reach: own[i].Reach, Via: u.Via,
				Reversibility: interlock.Irreversible, Confidence: interlock.Inferred})
		}
	}
	if !dry {
		own = append(own, r.S.Capture(func() { r.installs(u, args, own) })...)
		if own = append(own, r.S.Capture(func() { r.strays(u, args, own) })...); putsInto(u.Spec) {
			own = append(own, r.S.Capture(func() { r.merges(u, own) })...)
		}
		own = append(own, r.S.Capture(func() { r.placesFolder(u, own) })...)
	}
	if name := r.sendsNamedSecret(u, own); name != "" {
		own = append(own, interlock.Impact{Kind: interlock.ImpactCredential, Target: name,
			Reach: interlock.ReachExternal, Via: u.Via,
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitSecret, fact.TraitUpload}})
	}
	return own, out
}

// emptied judges a file that nothing is left of but what is written now.
func (r *shellRun) emptied(one *interlock.Impact, dry bool) {
	if one.Has(fact.TraitSecret) {
		one.Reversibility = interlock.Irreversible // no history keeps what such files hold
	}
	if !dry {
		r.S.Empties(*one)
	}
}

// posted judges a request that changes something: one that pays spends money, and one that destroys cannot be undone.
func (r *shellRun) posted(u *flow.Use, one *interlock.Impact, adds *know.Words) {
	if one.Reach != interlock.ReachWorkspace && web.Pays(one.Target, body(u)) {
		r.S.Add(interlock.Impact{Kind: interlock.ImpactSpend, Target: one.Target, Reach: one.Reach,
			Reversibility: interlock.Window,
			Confidence:    interlock.Inferred, Via: one.Via, Traits: slices.Clone(adds.Traits)})
	}
	if one.Reach != interlock.ReachWorkspace && web.Ends(one.Target, body(u)) {
		one.Reversibility = interlock.Irreversible
	}
	if destructiveURL(one.Target) || web.Administers(one.Target) || mutates(u) {
		one.Reversibility = interlock.Irreversible
	}
}

// calledAs puts the name a command was called by where the description's own is.
func calledAs(u *flow.Use, name flow.Field) {
	spec := u.Spec
	for spec.Parent != nil {
		spec = spec.Parent
	}
	if used, _ := lex.BaseName(name.Text); used != spec.Name && spec.Name != "?" {
		u.Via = used + strings.TrimPrefix(u.Via, spec.Name)
	} else if spec.Name == "?" {
		u.Via = name.Text
	}
}

// modifiers is what flags and operands add to all a command does, whether nothing is changed after all and whether it
// only informs. A flag that names the working directory takes effect.
func (r *shellRun) modifiers(u *flow.Use) (adds know.Words, dry, none bool) {
	for _, g := range u.Flags {
		adds.Merge(g.Option.Adds)
		dry, none = dry || g.Option.Dry, none || g.Option.None
		if g.Option.Dir {
			r.Chdir(g.Value)
		}
	}
	for _, o := range conditionsOf(u) {
		adds.Merge(o.Adds)
		dry, none = dry || o.Dry, none || o.None
	}
	return adds, dry, none
}

// leaves puts what a flag names into the place the first operand names.
func leaves(u *flow.Use) {
	for _, g := range u.Flags {
		if g.Option.Leaf && g.Value.Text != "" && len(u.Operands) > 0 {
			u.Operands = append([]flow.Field(nil), u.Operands...)
			u.Operands[0] = flow.Join(flow.Join(u.Operands[0], flow.Literal("/")), g.Value)
			return
		}
	}
}

// sendsInput reports whether standard input holds more than words of this action.
func sendsInput(io flow.Streams) bool {
	return io.File || io.In.Secret || io.In.Piped && (!io.In.Known || io.In.Outside || io.In.Written)
}

// link follows a link this action makes: later words that go through it mean what it points at.
func (r *shellRun) link(to, name flow.Field) {
	if to.Dynamic || name.Dynamic {
		return
	}
	from, meant := r.S.Place(name.Text).Path, r.S.Place(to.Text).Path
	if !r.S.Linking { // the links the caller gave are the caller's
		links := make(map[string]string, len(r.S.View.Links)+1)
		for k, v := range r.S.View.Links {
			links[k] = v
		}
		r.S.View.Links, r.S.Linking = links, true
	}
	r.S.View.Links[from] = meant
	r.S.Forget()
	if held, ok := r.files[meant]; ok {
		r.files[from] = held
	} else if tree := r.treeAt(meant); tree.Network {
		r.files[fetchedTree+from] = tree
	}
}

// runTraits is what code a command runs inherits: that it is elevated or not really run, not what is special to the
// command's own effects.
func runTraits(adds know.Words, dry bool) know.Words {
	w := know.Words{}
	for _, t := range adds.Traits {
		if t == fact.TraitElevated || t == fact.TraitRemote || t == fact.TraitObfuscated {
			w.Traits = append(w.Traits, t)
		}
	}
	if dry {
		w.Traits = append(w.Traits, fact.TraitDryRun)
		w.Reversibility = interlock.Readonly
	}
	return w
}

func runsCode(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Nested != "" || g.Option.Exec || g.Option.Code != "" {
			return true
		}
	}
	return false
}

// conditions returns the options whose patterns some operand matches, or some flag.
func conditions(c *know.Command, operands []flow.Field, flags ...flow.Given) []*know.Option {
	var out []*know.Option
	templated, seen := false, false // looked for once, and only where it matters, because operands may be long
	for n := c; n != nil; n = n.Parent {
		if len(n.When) > 0 && !seen {
			templated, seen = anyHolds(operands, "${{"), true
		}
		for i := range n.When {
			if holds(&n.When[i], operands, flags, templated) {
				out = append(out, n.When[i].Option)
			}
		}
	}
	return out
}

// words are what a command's conditions look at: its operands, or the name of what a wrapper runs.
func words(u *flow.Use) []flow.Field {
	if len(u.Operands) == 0 && u.Spec.Wraps != "" && len(u.Rest) > 0 {
		return u.Rest[:1]
	}
	return u.Operands
}

func holds(w *know.Condition, operands []flow.Field, flags []flow.Given, templated bool) bool {
	for _, pattern := range w.Patterns {
		all := true
		for one := range strings.SplitSeq(pattern, "&") { // a condition on several operands at once
			all = all && (holdsFor(one, operands, templated) || flagIs(one, flags))
		}
		if all {
			return true
		}
	}
	return false
}

// holdsFor reports whether one of the operands is what a pattern says, or there are as many of them as it says.
func holdsFor(pattern string, operands []flow.Field, templated bool) bool {
	if count, ok := strings.CutPrefix(pattern, "#"); ok && count == strconv.Itoa(len(operands)) {
		return true
	}
	at := -1
	if len(pattern) > 1 && pattern[1] == ':' && pattern[0] > '0' && pattern[0] <= '9' {
		at, pattern = int(pattern[0]-'1'), pattern[2:]
	}
	for i, f := range operands {
		text := f.Text
		if templated && strings.IndexByte(pattern, '*') >= 0 && strings.Contains(text, "${{") {
			text = besideTemplates(text) // what takes a template's place is not known, and its name is no sign of it
		}
		if at >= 0 && i != at || text == "" && f.Text != "" {
			continue
		}
		if know.MatchGlob(pattern, text) || lowerIs(f.Text, pattern) {
			return true
		}
	}
	return false
}

// lowerIs reports whether a text is a pattern when it is written in lower case. Texts that are too long for that are not copied.
func lowerIs(text, pattern string) bool {
	return len(text) <= utf8.UTFMax*len(pattern) && strings.ToLower(text) == pattern
}

// besideTemplates is a word with a sign that no name has where a ${{ … }} is, or nothing where the word is only that.
func besideTemplates(text string) string {
	before, rest, found := strings.Cut(text, "${{")
	for found {
		_, rest, found = strings.Cut(rest, "}}")
		if before += "\x00"; found {
			var more string
			more, rest, found = strings.Cut(rest, "${{")
			before += more
		}
	}
	return strings.TrimPrefix(before, "\x00")
}

// scope raises the reach of a command that is told to act on something named as production, and lowers it for a host that is
// this machine and for a cluster that tools set up on it under a name of their own.
func (r *shellRun) scope(u *flow.Use, adds *know.Words) {
	staging, other := false, false // of what is named as where it acts
	defer func() {
		if staging && !other {
			adds.Traits = append(adds.Traits[:len(adds.Traits):len(adds.Traits)], fact.TraitStaging)
		}
	}()
	for _, g := range u.Flags {
		if g.Option.Scope == "" || g.Value.Text == "" {
			continue
		}
		if r.S.Staging(r.hostOrName(g)) {
			staging = true
		} else {
			other = true
		}
		if g.Option.Scope == "host" {
			if reach, _ := r.S.Host(g.Value.Text); reach == interlock.ReachProduction || reach == interlock.ReachExternal {
				adds.Reach, u.Reach = reach, reach
			}
			continue
		}
		if g.Option.Scope == "bind" && anyAddress(g.Value.Text) {
			continue
		}
		if g.Option.Scope == "local" || g.Option.Scope == "bind" {
			if reach, _ := r.S.Host(g.Value.Text); u.Reach == "" && reach == interlock.ReachWorkspace && !g.Value.Dynamic {
				adds.Reach, u.Reach = reach, reach
			}
			continue
		}
		if r.S.Production(g.Value.Text) {
			adds.Reach, u.Reach = interlock.ReachProduction, interlock.ReachProduction
		} else if u.Reach == "" && (g.Name == "--context" || g.Name == "--kube-context") && r.S.LocalContext(g.Value.Text) {
			adds.Reach, u.Reach = interlock.ReachWorkspace, interlock.ReachWorkspace
		}
	}
	if root := rootOf(u.Spec); root.Connects && u.Reach == "" {
		r.scopeOfAddress(u, adds)
	}
}

// hostOrName is what an option that says where a command acts names: of an address its host.
func (r *shellRun) hostOrName(g flow.Given) string {
	if g.Value.Dynamic {
		return ""
	}
	if g.Option.Scope == "host" {
		host, _, _ := strings.Cut(place.HostOf(g.Value.Text), ":")
		return host
	}
	return g.Value.Text
}

// rootOf is the program that a subcommand is one of.
func rootOf(spec *know.Command) *know.Command {
	for spec.Parent != nil {
		spec = spec.Parent
	}
	return spec
}

// scopeOfAddress raises the reach of a client to that of the server that an address names which it is given among its words,
// in place of a flag for the host: postgres://host/db, "host=db.example.com dbname=x".
func (r *shellRun) scopeOfAddress(u *flow.Use, adds *know.Words) {
	for _, f := range u.Operands[:min(len(u.Operands), 3)] {
		r.scopeOfText(f, adds, u)
	}
	for _, g := range u.Flags {
		if g.Option.Nested == "" && g.Option.File == "" {
			r.scopeOfText(g.Value, adds, u)
		}
	}
}

func (r *shellRun) scopeOfText(f flow.Field, adds *know.Words, u *flow.Use) {
	host, text := "", f.Text
	if scheme, _, found := strings.Cut(text, "://"); found && len(text) <= lex.MaxText && !strings.ContainsAny(scheme, " /") {
		host = place.HostOf(text)
	} else if _, after, named := strings.Cut(text, "host="); named && len(text) <= lex.MaxText {
		host, _, _ = strings.Cut(after, " ")
	}
	if host == "" || host[0] == '/' {
		return
	}
	if reach, _ := r.S.Host(host); reach == interlock.ReachProduction || reach == interlock.ReachExternal {
		adds.Reach, u.Reach = reach, reach
	}
}

// anyAddress reports whether a server that is told to listen there listens to everybody.
func anyAddress(text string) bool {
	name := place.HostOf(text)
	if strings.HasPrefix(name, "[") {
		return strings.HasPrefix(name, "[::]")
	}
	name, _, _ = strings.Cut(name, ":")
	return name == "" || name == "0.0.0.0" || name == "0" || name == "*"
}
