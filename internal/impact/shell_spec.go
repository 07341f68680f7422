package impact

import (
	"slices"
	"strconv"
	"strings"

	"interlock"
)

// A use is one use of a described command: the subcommand chosen, its flags with their values, its operands.
type use struct {
	spec     *command
	flags    []given
	operands []field
	rest     []field // for a wrapper: the command line it runs
	via      string
	reach    interlock.Reach // where its flags say it acts
	tree     bool            // whole trees are meant
	asked    bool            // nothing but help or the version is asked for
	mounts   []mounted       // what its flags show of the host to what it runs
}

// A given is one flag as given.
type given struct {
	option *option
	name   string
	value  field
	argv   []field // for exec flags: the command line up to its end
}

// described runs a command the knowledge describes.
func (r *shellRun) described(spec *command, args []field, io streams) flow {
	return r.use(r.read(spec, args[1:]), args, io)
}

// use judges one use of a described command, whose arguments have been sorted.
func (r *shellRun) use(u *use, args []field, io streams) flow {
	spec := u.spec
	u.calledAs(args[0])
	u.leaves()
	r.obeyed(u)
	dir := r.s.dir
	defer func() { r.s.dir = dir }()
	adds, dry, none := r.modifiers(u)
	if (none || u.asked) && !runsCode(u) && u.rest == nil {
		return flow{}
	}
	u.tree = slices.Contains(adds.traits, TraitRecursive)
	if args[0].odd {
		adds.traits = append(adds.traits, TraitObfuscated)
	}
	if dry {
		adds.traits = append(adds.traits, TraitDryRun)
		adds.reversibility = interlock.Readonly
	}
	r.scope(u, &adds)
	var out flow
	r.outside, r.sent, r.reads = false, false, false
	own := r.s.capture(func() { out = r.effects(u, io, &adds) })
	if r.sent || spec.sends && sendsInput(io) {
		adds.traits = append(adds.traits, TraitUpload)
	}
	if r.guesses(u) {
		adds.traits = append(adds.traits, TraitPassword, TraitRepeated)
	}
	empties := r.empties(u, io)
	posts := u.posts() || spec.sends
	for i := range own {
		adds.apply(&own[i])
		if empties && own[i].Kind == interlock.ImpactWrite && own[i].Has(TraitSecret) && own[i].Has(TraitOverwrite) {
			own[i].Reversibility = interlock.Irreversible // no history keeps what such files hold
		}
		if posts && own[i].Kind == interlock.ImpactNetwork && own[i].Reach != interlock.ReachWorkspace && pays(own[i].Target, u.body()) {
			r.s.add(interlock.Impact{Kind: interlock.ImpactSpend, Target: own[i].Target, Reach: own[i].Reach, Reversibility: interlock.Window,
				Confidence: interlock.Inferred, Via: own[i].Via, Traits: slices.Clone(adds.traits)})
		}
		if posts && own[i].Kind == interlock.ImpactNetwork && (destructiveURL(own[i].Target) || administers(own[i].Target) || u.mutates()) {
			own[i].Reversibility = interlock.Irreversible
		}
	}
	if !dry {
		if own = append(own, r.s.capture(func() { r.strays(u, args, own) })...); putsInto(spec) {
			own = append(own, r.s.capture(func() { r.merges(u, own) })...)
		}
	}
	carried := r.settle(own, io)
	r.fills(u, own, io)
	if spec.copies {
		r.copies(u)
	}
	if spec.links && len(u.operands) == 2 { // only now: making a link changes the link, not what it points at
		r.link(u.operands[0], u.operands[1])
	}
	var ran flow
	inherited := runTraits(adds, dry)
	inherited.reach = u.reach
	r.s.modified(inherited, func() { r.s.inContainer(u.mounts, func() { ran = r.payloads(u, args, io) }) })
	carried.taint(ran)
	return r.output(u, out, ran, carried, io)
}

// calledAs puts the name a command was called by where the description's own stands.
func (u *use) calledAs(name field) {
	spec := u.spec
	for spec.parent != nil {
		spec = spec.parent
	}
	if used, _ := baseName(name.text); used != spec.name && spec.name != "?" {
		u.via = used + strings.TrimPrefix(u.via, spec.name)
	} else if spec.name == "?" {
		u.via = name.text
	}
}

// modifiers is what flags and operands add to all a command does, whether nothing is changed after all and whether it
// only informs. A flag that names the working directory takes effect.
func (r *shellRun) modifiers(u *use) (adds words, dry, none bool) {
	for _, g := range u.flags {
		adds.merge(g.option.adds)
		dry, none = dry || g.option.dry, none || g.option.none
		if g.option.dir {
			r.chdir(g.value)
		}
	}
	for _, o := range u.spec.conditions(u.words()) {
		adds.merge(o.adds)
		dry, none = dry || o.dry, none || o.none
	}
	return adds, dry, none
}

// leaves puts what a flag names into the place the first operand names.
func (u *use) leaves() {
	for _, g := range u.flags {
		if g.option.leaf && g.value.text != "" && len(u.operands) > 0 {
			u.operands = append([]field(nil), u.operands...)
			u.operands[0] = join(join(u.operands[0], literal("/")), g.value)
			return
		}
	}
}

// sendsInput reports whether standard input holds more than words of this action.
func sendsInput(io streams) bool {
	return io.file || io.in.secret || io.in.piped && (!io.in.known || io.in.outside || io.in.written)
}

// link follows a link this action makes: later words that go through it mean what it points at.
func (r *shellRun) link(to, name field) {
	if to.dynamic || name.dynamic {
		return
	}
	from, meant := r.s.place(name.text).Path, r.s.place(to.text).Path
	if !r.s.linking { // the links the caller gave are the caller's
		links := make(map[string]string, len(r.s.view.Links)+1)
		for k, v := range r.s.view.Links {
			links[k] = v
		}
		r.s.view.Links, r.s.linking = links, true
	}
	r.s.view.Links[from] = meant
	r.s.places = [len(r.s.places)]judgedPlace{}
	if held, ok := r.files[meant]; ok {
		r.files[from] = held
	}
}

// runTraits is what code a command runs inherits: that it is elevated or not really run, not what is special to the
// command's own effects.
func runTraits(adds words, dry bool) words {
	w := words{}
	for _, t := range adds.traits {
		if t == TraitElevated || t == TraitRemote || t == TraitObfuscated {
			w.traits = append(w.traits, t)
		}
	}
	if dry {
		w.traits = append(w.traits, TraitDryRun)
		w.reversibility = interlock.Readonly
	}
	return w
}

func runsCode(u *use) bool {
	for _, g := range u.flags {
		if g.option.nested != "" || g.option.exec || g.option.code != "" {
			return true
		}
	}
	return false
}

// conditions returns the options whose patterns some operand matches.
func (c *command) conditions(operands []field) []*option {
	var out []*option
	for n := c; n != nil; n = n.parent {
		for i := range n.when {
			if n.when[i].holds(operands) {
				out = append(out, n.when[i].option)
			}
		}
	}
	return out
}

// words are what a command's conditions look at: its operands, or the name of what a wrapper runs.
func (u *use) words() []field {
	if len(u.operands) == 0 && u.spec.wraps != "" && len(u.rest) > 0 {
		return u.rest[:1]
	}
	return u.operands
}

func (w *condition) holds(operands []field) bool {
	for _, pattern := range w.patterns {
		if count, ok := strings.CutPrefix(pattern, "#"); ok && count == strconv.Itoa(len(operands)) {
			return true
		}
		pattern, atFirst := strings.CutPrefix(pattern, "1:")
		for i, f := range operands {
			if atFirst && i > 0 {
				break
			}
			if isTemplate(f.text) && strings.IndexByte(pattern, '*') >= 0 {
				continue // what stands in its place is not known, and its name is no sign of it
			}
			if matchGlob(pattern, f.text) || pattern == strings.ToLower(f.text) {
				return true
			}
		}
	}
	return false
}

// isTemplate reports whether a word is one ${{ … }} of a template and nothing else.
func isTemplate(text string) bool {
	return strings.HasPrefix(text, "${{") && strings.Index(text, "}}") == len(text)-2
}

// scope raises the reach of a command that is told to act on something named as production, and lowers it for a host that is
// this machine and for a cluster that tools set up on it under a name of their own.
func (r *shellRun) scope(u *use, adds *words) {
	for _, g := range u.flags {
		if g.option.scope == "" || g.value.text == "" {
			continue
		}
		if g.option.scope == "host" {
			if reach, _ := r.s.host(g.value.text); reach == interlock.ReachProduction || reach == interlock.ReachExternal {
				adds.reach, u.reach = reach, reach
			}
			continue
		}
		if g.option.scope == "bind" && anyAddress(g.value.text) {
			continue
		}
		if g.option.scope == "local" || g.option.scope == "bind" {
			if reach, _ := r.s.host(g.value.text); u.reach == "" && reach == interlock.ReachWorkspace && !g.value.dynamic {
				adds.reach, u.reach = reach, reach
			}
			continue
		}
		if r.s.production(g.value.text) {
			adds.reach, u.reach = interlock.ReachProduction, interlock.ReachProduction
		} else if u.reach == "" && (g.name == "--context" || g.name == "--kube-context") && r.s.localContext(g.value.text) {
			adds.reach, u.reach = interlock.ReachWorkspace, interlock.ReachWorkspace
		}
	}
}

// anyAddress reports whether a server that is told to listen there listens to everybody.
func anyAddress(text string) bool {
	name := hostOf(text)
	if strings.HasPrefix(name, "[") {
		return strings.HasPrefix(name, "[::]")
	}
	name, _, _ = strings.Cut(name, ":")
	return name == "" || name == "0.0.0.0" || name == "0" || name == "*"
}
