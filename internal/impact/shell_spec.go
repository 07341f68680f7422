package impact

import (
	"path"
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
	u := r.read(spec, args[1:])
	if used, _ := baseName(args[0].text); used != spec.name && spec.name != "?" {
		u.via = used + strings.TrimPrefix(u.via, spec.name)
	} else if spec.name == "?" {
		u.via = args[0].text
	}
	spec = u.spec
	dir := r.s.dir
	defer func() { r.s.dir = dir }()
	var adds words
	var dry, none bool
	for _, g := range u.flags {
		adds.merge(g.option.adds)
		dry, none = dry || g.option.dry, none || g.option.none
		if g.option.dir {
			r.chdir(g.value)
		}
	}
	for _, o := range spec.conditions(u.operands) {
		adds.merge(o.adds)
		dry, none = dry || o.dry, none || o.none
	}
	if none && !runsCode(u) {
		return flow{}
	}
	if args[0].odd {
		adds.traits = append(adds.traits, TraitObfuscated)
	}
	if dry {
		adds.traits = append(adds.traits, TraitDryRun)
		adds.reversibility = interlock.Readonly
	}
	r.scope(u, &adds)
	if spec.links && len(u.operands) == 2 {
		r.link(u.operands[0], u.operands[1])
	}
	var out flow
	own := r.s.capture(func() { out = r.effects(u, io, &adds) })
	for i := range own {
		adds.apply(&own[i])
	}
	carried := r.settle(own, io)
	var ran flow
	r.s.modified(runTraits(adds, dry), func() { ran = r.payloads(u, args, io) })
	carried.taint(ran)
	return r.output(u, out, ran, carried, io)
}

// link follows a link this action makes: later words that go through it mean what it points at.
func (r *shellRun) link(to, name field) {
	if to.dynamic || name.dynamic {
		return
	}
	from, meant := r.s.place(name.text).Path, r.s.place(to.text).Path
	links := make(map[string]string, len(r.s.view.Links)+1)
	for k, v := range r.s.view.Links { //nolint:purity // copied, not listed
		links[k] = v
	}
	links[from] = meant
	r.s.view.Links = links
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

// find returns the option a flag names, in the command or those above it.
func (c *command) find(name string) *option {
	for n := c; n != nil; n = n.parent {
		if o := n.flags[name]; o != nil {
			return o
		}
	}
	if c.style == "words" && strings.HasPrefix(name, "--") {
		return c.find(name[1:])
	}
	return nil
}

// abbreviated returns the option a shortened long flag means, as GNU programs allow.
func (c *command) abbreviated(name string) *option {
	var found *option
	for n := c; n != nil; n = n.parent {
		for long, o := range n.flags {
			if strings.HasPrefix(long, name) && len(name) > 3 {
				if found != nil && found != o {
					return nil
				}
				found = o
			}
		}
	}
	return found
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

func (w *condition) holds(operands []field) bool {
	for _, pattern := range w.patterns {
		pattern, atFirst := strings.CutPrefix(pattern, "1:")
		for i, f := range operands {
			if atFirst && i > 0 {
				break
			}
			if matchGlob(pattern, f.text) {
				return true
			}
		}
	}
	return false
}

// read sorts arguments into flags and operands, choosing subcommands on the way.
func (r *shellRun) read(spec *command, args []field) *use {
	u := &use{spec: spec}
	pick := picker{candidates: []*command{spec}, best: spec}
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := a.text
		switch {
		case text == "--" && !a.dynamic && spec.style != "pairs":
			if o := u.spec.find("--"); o != nil {
				u.flags = append(u.flags, given{option: o, name: "--"})
			}
			i = u.after(args, i+1)
		case u.spec.style == "pairs" && strings.IndexByte(text, '=') > 0:
			name, _, _ := strings.Cut(text, "=")
			if o := u.spec.find(name); o != nil {
				u.flags = append(u.flags, given{option: o, name: name, value: cut(a, len(name)+1)})
			} else {
				u.operands = append(u.operands, a)
			}
		case isFlag(u.spec, a):
			i = u.flag(args, i)
		case i == 0 && u.spec.style == "bundle" && u.bundled(text):
			i = u.bundle(args)
		default:
			if len(u.operands) == 0 && pick.word(a) {
				u.spec = pick.candidates[0]
				continue
			}
			if len(u.operands) == 0 {
				u.spec, u.operands = pick.end()
			}
			if u.spec.wraps != "" && len(u.operands) >= u.spec.skip {
				if u.assignment(a) {
					continue
				}
				u.rest = args[i:]
				i = len(args)
				continue
			}
			u.operands = append(u.operands, a)
		}
		if u.rest != nil {
			break
		}
	}
	if len(u.operands) == 0 && u.rest == nil {
		u.spec, u.operands = pick.end()
	}
	u.via = u.spec.name
	if strings.Contains(u.via, "*") {
		u.via = viaOf(spec, args, strings.Count(u.via, " "))
	}
	return u
}

// A picker finds the subcommand that words choose. Several may fit while words remain; the most particular described one
// wins, and words read beyond it are operands after all.
type picker struct {
	candidates []*command
	best       *command
	beyond     []field
	done       bool
}

// word takes a word as part of a subcommand's name, or refuses it.
func (p *picker) word(a field) bool {
	if p.done || a.lead || a.dynamic {
		return false
	}
	next := choose(p.candidates, a.text)
	if len(next) == 0 {
		return false
	}
	p.candidates, p.beyond = next, append(p.beyond, a)
	for _, c := range next {
		if c.described {
			p.best, p.beyond = c, nil
			break
		}
	}
	return true
}

// end returns the choice and the words that belong to its operands.
func (p *picker) end() (*command, []field) {
	p.done = true
	beyond := p.beyond
	p.beyond = nil
	return p.best, beyond
}

// viaOf names a subcommand that was chosen by a pattern as it was written.
func viaOf(spec *command, args []field, n int) string {
	via := spec.name
	for _, a := range args {
		if n > 0 && !strings.HasPrefix(a.text, "-") {
			via += " " + a.text
			n--
		}
	}
	return via
}

// after takes everything after "--": operands, or the command line of a wrapper.
func (u *use) after(args []field, i int) int {
	if u.spec.wraps != "" && i < len(args) {
		for i < len(args) && (len(u.operands) < u.spec.skip || u.assignment(args[i])) {
			if len(u.operands) < u.spec.skip {
				u.operands = append(u.operands, args[i])
			}
			i++
		}
		if i < len(args) {
			u.rest = args[i:]
		}
		return len(args)
	}
	u.operands = append(u.operands, args[i:]...)
	return len(args)
}

// assignment takes a NAME=value before a wrapped command, if the wrapper's description knows them.
func (u *use) assignment(a field) bool {
	o := u.spec.flags["NAME=value"]
	if o == nil || !isAssignment(a.text) {
		return false
	}
	u.flags = append(u.flags, given{option: o, name: "NAME=value", value: a})
	return true
}

func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isFlag(spec *command, a field) bool {
	if a.lead || len(a.text) < 2 {
		return false
	}
	switch a.text[0] {
	case '-':
		return true
	case '+':
		return spec.find(a.text) != nil
	case '/':
		return spec.style == "slash" && len(a.text) <= 4 || spec.style == "slash" && spec.find(slashName(a.text)) != nil
	}
	return spec.style == "words" && (a.text == "!" || a.text == "(" || a.text == ")") || spec.flags[a.text] != nil
}

func slashName(text string) string {
	name, _, _ := strings.Cut(strings.ToLower(text), ":")
	return name
}

func cut(f field, n int) field {
	f.text, f.lead = f.text[n:], false
	return f
}

// flag reads the flag at i and returns the index of its last argument.
func (u *use) flag(args []field, i int) int {
	a := args[i]
	name := a.text
	if u.spec.style == "slash" && name[0] == '/' {
		name = slashName(name)
	}
	if o := u.spec.find(name); o != nil {
		return u.take(o, name, args, i)
	}
	if before, _, ok := strings.Cut(name, "="); ok {
		o := u.spec.find(before)
		if o == nil && strings.HasPrefix(name, "--") {
			o = u.spec.abbreviated(before)
		}
		if o != nil {
			u.flags = append(u.flags, given{option: o, name: before, value: cut(a, len(before)+1)})
		}
		return i
	}
	if strings.HasPrefix(name, "--") {
		if o := u.spec.abbreviated(name); o != nil {
			return u.take(o, name, args, i)
		}
		return i
	}
	if u.spec.style == "words" || u.spec.style == "slash" {
		return i
	}
	return u.cluster(args, i)
}

// bundled reports whether a first word is a run of flags without a dash, as tar and ar take them.
func (u *use) bundled(word string) bool {
	for j := 0; j < len(word); j++ {
		if u.spec.find("-"+word[j:j+1]) == nil {
			return false
		}
	}
	return word != ""
}

// bundle reads such a run: values stand in the following arguments, in order.
func (u *use) bundle(args []field) int {
	i, letters := 0, args[0].text
	for j := 0; j < len(letters); j++ {
		name := "-" + letters[j:j+1]
		g := given{option: u.spec.find(name), name: name}
		if g.option.value && i+1 < len(args) {
			i++
			g.value = args[i]
		}
		u.flags = append(u.flags, g)
	}
	return i
}

// take notes a flag and the value in the next argument, if it takes one.
func (u *use) take(o *option, name string, args []field, i int) int {
	g := given{option: o, name: name}
	switch {
	case o.exec:
		end := i + 1
		for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && end > i+1 && strings.Contains(args[end-1].text, "{}")) {
			end++
		}
		g.argv = args[min(i+1, len(args)):end]
		i = end
	case o.value && i+1 < len(args):
		i++
		g.value = args[i]
	}
	u.flags = append(u.flags, g)
	return i
}

// cluster reads short flags run together: -rf, -ofile, -czf file.
func (u *use) cluster(args []field, i int) int {
	a := args[i]
	for j := 1; j < len(a.text); j++ {
		name := "-" + a.text[j:j+1]
		o := u.spec.find(name)
		if o == nil {
			continue
		}
		if (o.value || o.last) && j+1 < len(a.text) {
			value := cut(a, j+1)
			value.text = strings.TrimPrefix(value.text, "=")
			u.flags = append(u.flags, given{option: o, name: name, value: value})
			return i
		}
		if o.value {
			return u.take(o, name, args, i)
		}
		u.flags = append(u.flags, given{option: o, name: name})
	}
	return i
}

// scope raises the reach of a command that is told to act on something named as production.
func (r *shellRun) scope(u *use, adds *words) {
	for _, g := range u.flags {
		if g.option.scope == "" || g.value.text == "" {
			continue
		}
		if g.option.scope == "host" {
			if reach, _ := r.s.host(g.value.text); reach == interlock.ReachProduction || reach == interlock.ReachExternal {
				adds.reach = reach
			}
			continue
		}
		if r.s.production(g.value.text) {
			adds.reach = interlock.ReachProduction
		}
	}
}

// effects records a command's own impacts.
func (r *shellRun) effects(u *use, io streams, adds *words) flow {
	conditions := u.spec.conditions(u.operands)
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
	return flow{}
}

func httpMethod(method string, adds *words) {
	switch strings.ToUpper(method) {
	case "", "GET", "HEAD", "OPTIONS":
	case "DELETE":
		adds.traits = append(adds.traits, TraitUpload)
		adds.reversibility = interlock.Irreversible
	default:
		adds.traits = append(adds.traits, TraitUpload)
	}
}

// mount judges host-path:container-path: what runs inside may write what is mounted.
func (r *shellRun) mount(u *use, value field) {
	source := value.text
	for _, part := range strings.Split(value.text, ",") {
		for _, key := range []string{"source=", "src="} {
			if rest, ok := strings.CutPrefix(part, key); ok {
				source = rest
			}
		}
	}
	host, rest, _ := strings.Cut(source, ":")
	if value.lead || host == "" || host[0] != '/' && host[0] != '.' && host[0] != '~' {
		return // a named volume, or a path that is not known
	}
	kind := interlock.ImpactWrite
	if strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,") || strings.Contains(value.text, "readonly") {
		kind = interlock.ImpactRead
	}
	value.text = host
	r.s.touchPlace(r.placeOf(value, true), interlock.Impact{Kind: kind, Via: u.via, Traits: []string{TraitRemote}})
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
	}
	if e.flag != "" {
		value = u.value(e.flag)
	}
	targets := u.targets(e.target, value)
	if len(targets) == 0 && e.alt == "cwd" {
		targets = []field{literal(".")}
	}
	if len(targets) == 0 && (e.what == "name" || e.what == "host" || e.what == "url") && e.target != "value" &&
		e.target != "second" && e.target != "rest" && e.kind != interlock.ImpactSpawn {
		base.Target = u.via
		r.plain(base)
		return
	}
	if e.kind != interlock.ImpactRead {
		targets = narrowed(u, targets)
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
		if g.option == o && o != nil {
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
	pattern, narrow := "", false
	for _, g := range u.flags {
		if g.option.narrow {
			narrow = true
			if g.option.value && pattern == "" && !strings.Contains(g.value.text, "/") {
				pattern = g.value.text
			}
		}
	}
	if !narrow {
		return targets
	}
	if strings.Trim(pattern, "*") == "" {
		pattern = "*?"
	}
	out := make([]field, len(targets))
	for i, t := range targets {
		t.text = strings.TrimSuffix(t.text, "/") + "/" + pattern
		t.glob = true
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
		reach, traits := r.s.host(t.text)
		if i.Reach == "" {
			i.Reach = reach
		}
		i.Traits = append(i.Traits, traits...)
		i.Target = cleanURL(t.text)
		if e.what == "host" {
			i.Target = hostOf(t.text)
		}
	case "name":
		i.Target = t.text
		if r.s.production(t.text) {
			i.Reach = interlock.ReachProduction
		}
	case "data": // @file reads a file, anything else is the data itself
		name, at := strings.CutPrefix(t.text, "@")
		if _, after, ok := strings.Cut(t.text, "=@"); ok && !at {
			name, at = after, true
		}
		if name, _, _ = strings.Cut(name, ";"); !at || name == "-" || name == "" {
			return
		}
		t.text = name
		r.s.touchPlace(r.placeOf(t, true), i)
		return
	case "base": // the file a URL's last part names, here
		name := path.Base(strings.TrimRight(cleanURL(t.text), "/"))
		t.text, t.lead = name, false
		r.s.touchPlace(r.placeOf(t, true), i)
		return
	case "entries": // names only: listing a secret store reveals no secret
		p := r.placeOf(t, true)
		p.Traits = without(p.Traits, TraitSecret)
		r.s.touchPlace(p, i)
		return
	default:
		r.pathTarget(i, t)
		return
	}
	if t.dynamic {
		i.Confidence = interlock.Inferred
		i.Traits = append(i.Traits, TraitDynamic)
	}
	r.plain(i)
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
