package place

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A World is what an analysis knows of the world around the action: what the door saw, where commands run, which names
// the knowledge has for places, and what a container sees of the host.
type World struct {
	fact.Collector
	Know    *know.Knowledge
	View    interlock.View
	Dir     string    // working directory as the analysis follows it; empty is unknown
	Windows bool      // what is being analysed is for a shell of Windows: \ separates, case does not matter
	mounts  []Mounted // directories of the host inside the container being looked into
	Linking bool      // view.Links is the analysis's own
	few     [8]Judgement
	many    []Judgement // in place of few, once those have been given away to other paths several times
	missed  int
	Wanted  []string // files whose text would be analysed if it were known
	Works   []string // paths whose work is asked about, see weighWork
	Ran     []string // places in which something runs that may do what files there say
}

// Place judges a path as the analysed input names it: relative to s.dir, with ~ and $HOME, on any platform. It is
// lexical; what it should know of links is in the view. Where neither a working directory nor a workspace is known,
// a path is taken to be in the workspace unless it says otherwise.
func (w *World) Place(name string) know.Place {
	at := w.judged(name)
	if at.Judged && at.Name == name && at.dir == w.Dir && at.windows == w.Windows {
		return at.place
	}
	w.missed++
	w.SpendBytes(len(name) + len(w.Dir))
	p := w.judgePlace(name)
	p.Traits = p.Traits[:len(p.Traits):len(p.Traits)] // the caller adds traits to a copy
	*w.judged(name) = Judgement{Name: name, dir: w.Dir, windows: w.Windows, Judged: true, place: p}
	return p
}

// PlaceOfName judges a path whose pattern characters are letters of names like any other.
func (w *World) PlaceOfName(name string) know.Place {
	p := w.Place(strings.NewReplacer("*", "\x01", "?", "\x02", "[", "\x03").Replace(name))
	p.Path = strings.NewReplacer("\x01", "*", "\x02", "?", "\x03", "[").Replace(p.Path)
	return p
}

func (w *World) judgePlace(name string) (out know.Place) {
	table := w.Know.PathTable()
	p := know.Place{Confidence: interlock.Parsed}
	if w.Windows || strings.IndexByte(name, '\\') >= 0 {
		if key, ok := registryKey(name); ok {
			return w.registry(key)
		}
		var stream bool
		if name, stream = w.windowsName(name); stream {
			defer func() {
				out.Traits = append(out.Traits[:len(out.Traits):len(out.Traits)], fact.TraitObfuscated)
			}()
		}
	}
	clean, sure := w.clean(name)
	if !sure {
		p.Confidence = interlock.Inferred
	}
	if len(w.mounts) > 0 {
		clean = w.onHost(clean)
	}
	p.Path = clean
	w.locateShared(&p, table)
	if meant, ok := w.linked(clean); ok {
		named := p.Traits
		p.Path = meant
		w.locate(&p, table)
		p.Traits = append(p.Traits, named...)
	}
	return p
}

// clean makes a path absolute where that is possible and drops what does not change its meaning.
func (w *World) clean(name string) (clean string, sure bool) {
	sure = true
	name = strings.TrimPrefix(name, "file://")
	if lex.IsDrive(name) || strings.HasPrefix(name, `\\`) {
		name = strings.ReplaceAll(name, `\`, "/")
		return name[:2] + path.Clean("/"+name[2:]), true
	}
	if w.Windows && strings.HasPrefix(name, "//") {
		return "/" + path.Clean(name), true
	}
	switch {
	case name == "":
		return "", false
	case name[0] == '~':
		name = w.tilde(name)
	case name[0] == '$' || name[0] == '%':
		name = w.ExpandLead(name)
	}
	if name[0] != '/' && name[0] != '~' {
		if name[0] == '$' || name[0] == '%' {
			return name, false
		}
		if w.Dir != "" {
			name = w.Dir + "/" + name
		}
	}
	clean = path.Clean(throughRoot(dottedUp(name)))
	if strings.HasPrefix(clean, "..") {
		return climb(clean)
	}
	if under, ok := w.pointedHome(clean); ok {
		return under, sure
	}
	return unalias(clean), sure
}

// pointedHome reads a path whose beginning is the home directory with letters of it left to a pattern, as /?ome/dev or
// /home/de[v]: that means the home directory.
func (w *World) pointedHome(clean string) (string, bool) {
	home := w.Home()
	if len(home) < 2 || clean[0] != '/' || !know.IsGlob(clean) {
		return "", false
	}
	rest, patterns := clean[1:], 0
	for _, want := range strings.Split(home[1:], "/") {
		part, after, _ := strings.Cut(rest, "/")
		if part != want {
			if !know.IsGlob(part) || strings.IndexByte(part, '*') >= 0 || len(strings.Trim(part, "?")) < 2 ||
				!know.MatchGlob(part, want) {
				return "", false
			}
			patterns++
		}
		rest = after
	}
	if patterns == 0 {
		return "", false
	}
	return path.Clean(home + "/" + rest), true
}

// dottedUp reads a pattern that matches `..` as that, as .? does in shells that let patterns match it.
func dottedUp(name string) string {
	if !know.IsGlob(name) || !strings.Contains(name, "/.") && name[0] != '.' {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if part != "" && part[0] == '.' && know.IsGlob(part) && strings.IndexByte(part, '*') < 0 && know.MatchGlob(part, "..") {
			parts[i] = ".."
		}
	}
	return strings.Join(parts, "/")
}

// throughRoot takes the root of a process for the root: a link, so that `..` behind it leads to / and not to what is
// before it.
func throughRoot(name string) string {
	for at := 0; at < len(name); {
		from := strings.Index(name[at:], "/root")
		if from < 0 {
			break
		}
		end := at + from + len("/root")
		if clean := path.Clean(name[:end]); (clean == "/proc/self/root" || clean == "/proc/1/root") &&
			(end == len(name) || name[end] == '/') {
			name, at = "/"+name[end:], 0
			continue
		}
		at = end
	}
	return name
}

// climb reads a relative path that leaves an unknown working directory: one that goes up at least three levels and then
// names a system directory is written to reach that directory from wherever it is.
func climb(clean string) (string, bool) {
	rest, ups := clean, 0
	for rest == ".." || strings.HasPrefix(rest, "../") {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/")
		ups++
	}
	if ups >= 3 {
		return unalias("/" + rest), false
	}
	return clean, false
}

// unalias resolves spellings of the root and of /etc, /var and /tmp that systems keep.
func unalias(clean string) string {
	for _, prefix := range []string{"/proc/self/root", "/proc/1/root", "/private"} {
		if clean == prefix && prefix != "/private" {
			return "/"
		}
		if rest, ok := strings.CutPrefix(clean, prefix+"/"); ok {
			if prefix == "/private" && !strings.HasPrefix(rest, "etc") && !strings.HasPrefix(rest, "var") &&
				!strings.HasPrefix(rest, "tmp") {
				return clean
			}
			return unalias("/" + rest)
		}
	}
	return clean
}

func (w *World) tilde(name string) string {
	user, rest, slash := strings.Cut(name[1:], "/")
	if slash {
		rest = "/" + rest
	}
	switch {
	case user == "" || user == w.View.User:
		return w.Home() + rest
	case user == "root":
		return "/root" + rest
	case user == "+" && w.Dir != "":
		return w.Dir + rest
	case strings.ContainsAny(user, ".#$*"): // a backup file's name and the like, not a user's
		return "./" + name
	}
	return "/home/" + user + rest
}

func (w *World) Home() string {
	if w.View.Home != "" {
		return w.View.Home
	}
	return "~"
}

// SelfHome is the directory that INTERLOCK_HOME names, in whatever language it is asked for: the first of what is Interlock's own.
func (w *World) SelfHome() (dir string, known bool) {
	if len(w.View.Self) == 0 {
		return "", false
	}
	return w.View.Self[0], true
}

// ExpandLead resolves the variables that are known everywhere at the front of a path. A shell's own assignments have been
// resolved before; this serves other callers and what was left.
func (w *World) ExpandLead(name string) string {
	for _, v := range []struct{ name, value string }{
		{"${HOME}", w.Home()}, {"$HOME", w.Home()}, {"%USERPROFILE%", w.Home()}, {"$env:USERPROFILE", w.Home()},
		{"${PWD}", w.Dir}, {"$PWD", w.Dir}, {"${TMPDIR}", "/tmp"}, {"$TMPDIR", "/tmp"},
		{"$env:LOCALAPPDATA", w.Home() + "/AppData/Local"}, {"%LOCALAPPDATA%", w.Home() + "/AppData/Local"},
		{"$env:APPDATA", w.Home() + "/AppData/Roaming"}, {"%APPDATA%", w.Home() + "/AppData/Roaming"},
		{"%SYSTEMROOT%", "C:/Windows"}, {"%WINDIR%", "C:/Windows"}, {"%TEMP%", "/tmp"}, {"%TMP%", "/tmp"},
	} {
		if rest, ok := strings.CutPrefix(name, v.name); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			if v.value == "" {
				return "." + rest
			}
			return v.value + strings.ReplaceAll(rest, `\`, "/")
		}
	}
	return name
}

// linked follows the view's links: a link or anything below one.
func (w *World) linked(clean string) (string, bool) {
	if len(w.View.Links) == 0 {
		return clean, false
	}
	for end := len(clean); end > 0; end = strings.LastIndexByte(clean[:end], '/') {
		if meant, ok := w.View.Links[clean[:end]]; ok && meant != clean[:end] {
			return path.Clean(meant + clean[end:]), true
		}
	}
	return clean, false
}

// locate fills in reach and traits of a clean path.
func (w *World) locate(p *know.Place, table *know.PathTable) {
	p.Traits, p.Reach, p.Scratch, p.MaybeSelf = nil, "", false, false
	home, inHome := w.belowHome(p.Path)
	if w.caseless(p.Path) {
		w.Know.FoldedPaths().Match(p, home, inHome)
	} else {
		table.Match(p, home, inHome)
	}
	p.Assumed = false
	if p.Reach == "" {
		p.Reach = w.reach(p.Path, home, inHome, table)
		p.Assumed = p.Reach == interlock.ReachWorkspace && w.View.Workspace == "" && !inHome && assumedOnly(p.Path, table)
	}
	w.locateSelf(p)
}

// belowHome returns a path's part below a home directory, "" for the home directory itself.
func (w *World) belowHome(clean string) (rest string, ok bool) {
	if h := w.View.Home; h != "" && Below(clean, h) {
		return strings.TrimPrefix(clean[len(h):], "/"), true
	}
	if strings.HasPrefix(clean, "/.") { // the root is the home of a user who has none
		return clean[1:], true
	}
	for _, h := range [...]string{"~", "/root"} {
		if Below(clean, h) {
			return strings.TrimPrefix(clean[len(h):], "/"), true
		}
	}
	if lex.IsDrive(clean) && len(clean) > len("C:/Users/") && strings.EqualFold(clean[1:len("C:/Users/")], ":/Users/") {
		_, rest, _ := strings.Cut(clean[len("C:/Users/"):], "/")
		return rest, true
	}
	for _, parent := range [...]string{"/home/", "/Users/"} {
		if user, found := strings.CutPrefix(clean, parent); found && user != "" {
			_, rest, _ := strings.Cut(user, "/")
			return rest, true
		}
	}
	return "", false
}

// Foreign reports whether what a file holds is none of the workspace's business and not public knowledge either.
func (w *World) Foreign(p know.Place) bool {
	if p.Reach != interlock.ReachHome && p.Reach != interlock.ReachSystem || QuietDevice(p.Path) {
		return false
	}
	for _, pattern := range w.Know.PathTable().Public {
		if know.MatchGlob(pattern, p.Path) {
			return false
		}
	}
	return true
}

func Below(name, dir string) bool {
	if lex.IsDrive(dir) && len(name) >= len(dir) && strings.EqualFold(name[:len(dir)], dir) {
		name = dir + name[len(dir):] // drives, and what is on them, do not tell letters by case
	}
	return strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/' || strings.HasSuffix(dir, "/"))
}

// reach says how far a clean path is that the table does not speak of.
func (w *World) reach(clean, home string, inHome bool, table *know.PathTable) interlock.Reach {
	workspace := w.View.Workspace
	if len(workspace) < 2 || !inside(workspace, table) {
		workspace = "" // the root or a home directory is no project
	}
	first := strings.TrimPrefix(clean, "/")
	first, _, _ = strings.Cut(first, "/")
	switch {
	case clean == "":
		return interlock.ReachWorkspace
	case workspace != "" && Below(clean, workspace):
		return interlock.ReachWorkspace
	case lex.IsDrive(clean):
		return w.driveReach(clean, inHome, workspace)
	case inHome && workspace == "" && clean[0] == '/' && !strings.HasPrefix(clean, "/root") && strings.Contains(home, "/") &&
		home[0] != '.' && !table.Personal[home[:strings.IndexByte(home, '/')]]:
		return interlock.ReachWorkspace // some project below a home directory; nothing says which
	case inHome:
		return interlock.ReachHome
	case clean[0] == '/' && (table.System[first] || clean == "/" || know.IsGlob(first)):
		return interlock.ReachSystem
	case clean[0] != '/':
		return relativeReach(clean, workspace)
	case workspace == "":
		return interlock.ReachWorkspace
	}
	return interlock.ReachHome
}

// assumedOnly reports whether a path that counts as workspace for want of a better reason is nowhere projects are kept.
func assumedOnly(clean string, table *know.PathTable) bool {
	if strings.HasPrefix(clean, "../") || clean == ".." {
		return true
	}
	if clean == "" || clean[0] != '/' {
		return false
	}
	first, _, _ := strings.Cut(clean[1:], "/")
	return !table.Projects[first]
}

// inside reports whether a directory can be a workspace at all.
func inside(dir string, table *know.PathTable) bool {
	return dir != "/" && dir != "~" && dir != "/home" && dir != "/root" && dir != "/Users" && !(table.System[dir[1:]])
}

func relativeReach(clean, workspace string) interlock.Reach {
	if strings.HasPrefix(clean, "..") && (workspace != "" || strings.HasPrefix(clean, "../..")) {
		return interlock.ReachHome
	}
	return interlock.ReachWorkspace
}

func (w *World) driveReach(clean string, inHome bool, workspace string) interlock.Reach {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(clean[2:], "/")), "/")
	switch {
	case inHome && (workspace != "" || !strings.Contains(clean[9:], "/")):
		return interlock.ReachHome
	case first == "" || know.IsGlob(first) || first == "windows" || first == "program files" || first == "programdata" ||
		first == "program files (x86)" || strings.HasPrefix(first, "windows"):
		return interlock.ReachSystem
	}
	return interlock.ReachWorkspace
}

// Touch records that a path is read, written or deleted, and what follows from the place it names: reading a secret is
// also a credential impact, writing a start-up file is also a persist impact. Target, reach and the place's traits are
// filled in; a reach that is set already is kept.
func (w *World) Touch(name string, i interlock.Impact) { w.TouchPlace(w.Place(name), i) }

func (w *World) TouchPlace(p know.Place, i interlock.Impact) {
	i.Target = p.Path
	if i.Reach == "" {
		i.Reach = p.Reach
		if i.Kind == interlock.ImpactDelete && p.Assumed && i.Has(fact.TraitRecursive) {
			i.Reach = interlock.ReachHome
		}
	}
	w.protects(&p, &i)
	if i.Kind == interlock.ImpactDelete && p.Scratch {
		i.Traits = append(i.Traits, fact.TraitRoot)
	}
	gone := i.Kind == interlock.ImpactDelete && i.Has(fact.TraitRecursive) || i.Has(fact.TraitMoved)
	if gone && !i.Has(fact.TraitRoot) && !fact.HasTrait(p.Traits, fact.TraitRoot) && w.HoldsSelf(p.Path) {
		i.Reach = interlock.ReachSelf
		i.Traits = append(append(make([]string, 0, len(i.Traits)+1), i.Traits...), fact.TraitSelf)
	}
	if i.Confidence == "" {
		i.Confidence = p.Confidence
	}
	i.Traits = append(append(make([]string, 0, len(i.Traits)+len(p.Traits)), i.Traits...), p.Traits...)
	if i.Reversibility == "" {
		i.Reversibility = UsualReversibility(i.Kind)
	}
	// what a pattern names may well go to a folder beside it
	away := i.Kind == interlock.ImpactWrite && i.Has(fact.TraitMoved) && !i.Has(fact.TraitGlob)
	if (i.Kind == interlock.ImpactDelete || away) && w.wholeWorkspace(p.Path) ||
		i.Kind == interlock.ImpactDelete && i.Has(fact.TraitSecret) && i.Reach == interlock.ReachWorkspace &&
			!i.Has(fact.TraitGlob) {
		i.Traits = append(i.Traits, fact.TraitUncommitted)
	}
	w.weighWork(&p, &i)
	w.Add(i)
	switch {
	case i.Kind == interlock.ImpactRead && i.Has(fact.TraitSecret):
		i.Kind = interlock.ImpactCredential
	case i.Kind == interlock.ImpactWrite && (i.Has(fact.TraitStartup) || i.Reach != interlock.ReachSelf && w.Shadows(p.Path)):
		i.Kind, i.Traits = interlock.ImpactPersist, append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitStartup)
	default:
		return
	}
	i.Traits = append([]string(nil), i.Traits...)
	w.Add(i)
}

// HoldsSelf reports whether something of Interlock's own lies below a path, so that it goes when the path goes.
func (w *World) HoldsSelf(clean string) bool {
	clean = strings.TrimSuffix(clean, "/*")
	for _, self := range w.View.Self {
		if strings.HasPrefix(clean, "/") && Below(self, clean) {
			return true
		}
	}
	return false
}

// wholeWorkspace reports whether a path is the workspace or holds it.
func (w *World) wholeWorkspace(clean string) bool {
	workspace := w.View.Workspace
	clean = strings.TrimSuffix(clean, "/*")
	return clean == "." || clean == "*" || clean == ".*" || workspace != "" && clean != "" && Below(workspace, clean)
}

// UsualReversibility is what undoing an impact of a kind takes unless a description says otherwise.
func UsualReversibility(kind interlock.ImpactKind) interlock.Reversibility {
	switch kind {
	case interlock.ImpactRead, interlock.ImpactCredential:
		return interlock.Readonly
	case interlock.ImpactDelete, interlock.ImpactMessage:
		return interlock.Irreversible
	case interlock.ImpactNetwork, interlock.ImpactSpend:
		return interlock.Window
	}
	return interlock.Reversible
}

// Named returns the traits a path's last components have wherever it is.
func (w *World) Named(end string) []string {
	p := know.Place{Path: "x/" + end}
	w.Know.PathTable().Match(&p, "", false)
	return p.Traits
}
