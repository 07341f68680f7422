package impact

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"interlock"
)

// pathsDescription is rules/paths.yaml.
type pathsDescription struct {
	About      string              `json:"about,omitempty"`
	Traits     map[string][]string `json:"traits"`     // trait -> patterns
	Registry   map[string][]string `json:"registry"`   // trait -> patterns of keys and values below a hive of Windows' registry, in lower case
	Scratch    []string            `json:"scratch"`    // patterns of scratch space, which counts as workspace
	Caches     []string            `json:"caches"`     // patterns of what is fetched or built again when it is missing, which counts as workspace
	Self       []string            `json:"self"`       // patterns of Interlock's own files
	System     []string            `json:"system"`     // first components of system paths
	Projects   []string            `json:"projects"`   // first components under which projects are kept
	Personal   []string            `json:"personal"`   // directories below a home directory that hold no projects
	Metadata   []string            `json:"metadata"`   // hosts that hand out cloud credentials
	Loopback   []string            `json:"loopback"`   // hosts that are this machine
	Local      []string            `json:"local"`      // globs of names of clusters and contexts on this machine
	Production []string            `json:"production"` // globs of names that are production
	Git        []string            `json:"git"`        // what Git itself keeps in its directory, in lower case
	Public     []string            `json:"public"`     // globs of system files that tell nothing about anybody
}

// A pathTable finds the patterns a path matches. Patterns begin with / (from the root), ~/ (from any home directory) or
// neither (anywhere); they end in / to cover a directory and all below; each component may be a glob; a leading ! takes
// the trait away again.
type pathTable struct {
	root, home, any map[string][]pathPattern // by first component
	wild            []pathPattern            // anywhere, one component that is a glob
	wildByEnd       map[byte][]pathPattern   // wild by the last letter of what they match
	wildOpen        []pathPattern            // wild that end in a glob character
	rootKeys        []string                 // of root, in order
	homeKeys        []string                 // of home, in order
	anyKeys         []string                 // of any, in order
	system          map[string]bool
	projects        map[string]bool
	personal        map[string]bool
	metadata        map[string]bool
	loopback        map[string]bool
	git             map[string]bool
	production      []string
	local           []string
	public          []string
	registry        []pathPattern // in a folded table
	fold            bool          // patterns and paths are compared in lower case
}

type pathPattern struct {
	parts  []string
	trait  string
	reach  interlock.Reach
	tree   bool // covers everything below
	cache  bool // nothing is lost with it
	negate bool
}

func compilePaths(d pathsDescription, fold bool) (*pathTable, error) {
	t := &pathTable{root: map[string][]pathPattern{}, home: map[string][]pathPattern{}, any: map[string][]pathPattern{}, wildByEnd: map[byte][]pathPattern{},
		system: set(d.System), projects: set(d.Projects), personal: set(d.Personal), metadata: set(d.Metadata), loopback: set(d.Loopback), git: set(d.Git),
		production: d.Production, local: d.Local, public: d.Public}
	t.fold = fold
	names := make([]string, 0, len(d.Traits))
	for name := range d.Traits {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !slices.Contains(traitNames(), name) {
			return nil, fmt.Errorf("unknown trait %q", name)
		}
		for _, pattern := range d.Traits[name] {
			t.put(pattern, pathPattern{trait: name})
		}
	}
	if err := t.putRegistry(d.Registry); err != nil {
		return nil, err
	}
	for _, pattern := range d.Scratch {
		t.put(pattern, pathPattern{reach: interlock.ReachWorkspace})
	}
	for _, pattern := range d.Caches {
		t.put(pattern, pathPattern{reach: interlock.ReachWorkspace, cache: true})
	}
	for _, pattern := range d.Self {
		t.put(pattern, pathPattern{reach: interlock.ReachSelf})
	}
	t.rootKeys, t.homeKeys, t.anyKeys = sortedPatterns(t.root), sortedPatterns(t.home), sortedPatterns(t.any)
	return t, nil
}

func sortedPatterns(index map[string][]pathPattern) []string {
	keys := make([]string, 0, len(index))
	for key := range index {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// putRegistry keeps the registry's patterns in a folded table only, which is where they are looked for.
func (t *pathTable) putRegistry(described map[string][]string) error {
	names := make([]string, 0, len(described))
	for name := range described {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !slices.Contains(traitNames(), name) {
			return fmt.Errorf("registry: unknown trait %q", name)
		}
		for _, pattern := range described[name] {
			if t.fold {
				p := pathPattern{trait: name}
				pattern, p.negate = strings.CutPrefix(pattern, "!")
				pattern, p.tree = strings.CutSuffix(pattern, "/")
				p.parts = strings.Split(strings.ToLower(pattern), "/")
				t.registry = append(t.registry, p)
			}
		}
	}
	sort.SliceStable(t.registry, func(i, j int) bool { return !t.registry[i].negate && t.registry[j].negate })
	return nil
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, name := range list {
		m[name] = true
	}
	return m
}

func (t *pathTable) put(pattern string, p pathPattern) {
	pattern, p.negate = strings.CutPrefix(pattern, "!")
	if t.fold {
		pattern = strings.ToLower(pattern)
	}
	if pattern != "/" {
		pattern, p.tree = strings.CutSuffix(pattern, "/")
	}
	index, anywhere := t.any, false
	switch {
	case strings.HasPrefix(pattern, "/"):
		index, pattern = t.root, pattern[1:]
	case strings.HasPrefix(pattern, "~/"):
		index, pattern = t.home, pattern[2:]
	case pattern == "~":
		index, pattern = t.home, ""
	default:
		anywhere = true
	}
	p.parts = strings.Split(pattern, "/")
	if isGlob(p.parts[0]) {
		if len(p.parts) == 1 && anywhere && !p.tree {
			t.wild = append(t.wild, p)
			if last := pattern[len(pattern)-1]; strings.IndexByte("*?]", last) < 0 {
				t.wildByEnd[last] = append(t.wildByEnd[last], p)
			} else {
				t.wildOpen = append(t.wildOpen, p)
			}
			return
		}
		index["*"] = append(index["*"], p)
		return
	}
	index[p.parts[0]] = append(index[p.parts[0]], p)
}

// match fills in what the patterns say about a clean path.
func (t *pathTable) match(p *place, home string, inHome bool) {
	if t.any == nil {
		return
	}
	var drop []string
	glob := isGlob(p.Path) || isGlob(home)
	anchored := true
	note := func(list []pathPattern, rest string) {
		for i := range list {
			m := &list[i]
			is := guess{covers: m.covers(rest), sure: true}
			if !is.covers && glob && !m.negate {
				is = m.mayCover(rest, anchored)
			}
			if is.covers {
				switch {
				case m.negate:
					drop = append(drop, m.trait)
				case m.trait != "" && is.loose && m.trait != TraitSecret: // where nothing is spelled, only what is worst to lose counts
				case m.trait != "":
					p.Traits = append(p.Traits, m.trait)
				case !is.sure && m.reach == interlock.ReachWorkspace: // what a pattern only may mean is no scratch space
				case is.loose:
					p.maybeSelf = p.maybeSelf || strings.Count(rest, "/") >= len(m.parts)
				default:
					p.Reach = m.reach
					p.scratch = m.reach == interlock.ReachWorkspace && !m.cache && strings.Count(rest, "/") == len(m.parts)-1
				}
			}
		}
	}
	rest := strings.TrimPrefix(p.Path, "/")
	if t.fold {
		rest, home = strings.ToLower(rest), strings.ToLower(home)
	}
	if isDrive(p.Path) {
		rest = strings.TrimSuffix(strings.ToLower(rest), "/")
	}
	if p.Path != "" && (p.Path[0] == '/' || isDrive(p.Path)) {
		first, _, _ := strings.Cut(rest, "/")
		note(t.root[first], rest)
		note(t.root["*"], rest)
		if isGlob(first) {
			for _, key := range t.rootKeys {
				note(t.root[key], rest)
			}
		}
	}
	if inHome {
		first, _, _ := strings.Cut(home, "/")
		note(t.home[first], home)
		note(t.home["*"], home)
		if isGlob(first) {
			for _, key := range t.homeKeys {
				note(t.home[key], home)
			}
		}
	}
	anchored = false
	t.anywhere(inWorktree(rest), glob, note)
	if len(p.Traits) > 0 && t.foreign(p.Path) {
		drop = append(drop, TraitHistory)
	}
	if len(drop) > 0 {
		p.Traits = slices.DeleteFunc(p.Traits, func(trait string) bool { return slices.Contains(drop, trait) })
	}
}

// inWorktree takes what lies in a worktree that Claude Code made of a project as if it lay in the project: no more of it is
// the program's own than there.
func inWorktree(rest string) string {
	const worktrees = ".claude/worktrees/"
	i := strings.Index(rest, worktrees)
	if i < 0 || i > 0 && rest[i-1] != '/' {
		return rest
	}
	name, inner, below := strings.Cut(rest[i+len(worktrees):], "/")
	if !below || name == "" || inner == "" || isGlob(name) || name == ".." || strings.Contains(inner, worktrees) {
		return rest
	}
	return rest[:i] + inner
}

// anywhere notes what patterns say that hold wherever in a path they stand.
func (t *pathTable) anywhere(rest string, glob bool, note func(list []pathPattern, rest string)) {
	for rest != "" {
		first, after, more := strings.Cut(rest, "/")
		note(t.any[first], rest)
		note(t.any["*"], rest)
		if glob && isGlob(first) {
			for _, key := range t.anyKeys {
				note(t.any[key], rest)
			}
		}
		if !more {
			t.lastPart(rest, glob, note)
			break
		}
		rest = after
	}
}

// lastPart notes what patterns of one component say about a path's last one. Every path is held against a hundred of
// them, so the last letter chooses; a name that is itself a glob may end in any.
func (t *pathTable) lastPart(name string, glob bool, note func(list []pathPattern, rest string)) {
	if name == "" {
		return
	}
	if glob {
		note(t.wild, name)
		return
	}
	note(t.wildByEnd[name[len(name)-1]], name)
	note(t.wildOpen, name)
}

// covers reports whether the pattern matches rest, or a directory above it if the pattern is a tree.
func (m *pathPattern) covers(rest string) bool {
	for i, part := range m.parts {
		var name string
		var more bool
		name, rest, more = strings.Cut(rest, "/")
		if name != part && !matchGlob(part, name) {
			return false
		}
		if !more {
			return i == len(m.parts)-1
		}
	}
	return m.tree
}

func isGlob(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '*' || c == '?' || c == '[' {
			return true
		}
	}
	return false
}

// matchGlob reports whether name matches a pattern of literals, *, ? and [classes]. It takes time linear in the product
// of the lengths and never fails: a malformed class is a literal.
func matchGlob(pattern, name string) bool {
	// Most names end in another letter than most patterns do, and every path is held against a hundred of them.
	if len(pattern) > 0 && len(name) > 0 {
		if last := pattern[len(pattern)-1]; last != name[len(name)-1] && last != '*' && last != '?' && last != ']' && last != '[' {
			return false
		}
	}
	return matchGlobSlowly(pattern, name)
}

func matchGlobSlowly(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				star, mark = p, n
				p++
				continue
			case c == '[':
				if end := strings.IndexByte(pattern[p:], ']'); end > 1 && inClass(pattern[p+1:p+end], name[n]) {
					p, n = p+end+1, n+1
					continue
				}
			case c == '?' || c == name[n]:
				p, n = p+1, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func inClass(class string, c byte) bool {
	negated := class[0] == '!' || class[0] == '^'
	if negated {
		class = class[1:]
	}
	found := false
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			found = found || class[i] <= c && c <= class[i+2]
			i += 2
			continue
		}
		found = found || class[i] == c
	}
	return found != negated
}

// host judges a host name, address or URL.
func (w *world) host(nameOrURL string) (reach interlock.Reach, traits []string) {
	table := w.know.pathTable()
	name := hostOf(nameOrURL)
	bare := name
	if end := strings.IndexByte(name, ']'); end > 0 && name[0] == '[' {
		bare = name[:end]
	} else if h, port, ok := strings.Cut(name, ":"); ok && !strings.Contains(port, ":") {
		bare = h
	}
	bare = strings.Trim(bare, "[]")
	for _, e := range w.view.Endpoints {
		if e == name || table.loopback[bare] && portOf(e) != "" && portOf(e) == portOf(name) {
			return interlock.ReachSelf, []string{TraitSelf}
		}
	}
	switch {
	case table.metadata[bare]:
		return interlock.ReachExternal, []string{TraitMetadata}
	case everyAddress(nameOrURL):
		return interlock.ReachExternal, nil
	case table.loopback[bare] || strings.HasPrefix(bare, "127.") || strings.HasSuffix(bare, ".localhost"):
		return interlock.ReachWorkspace, nil
	case w.production(bare):
		return interlock.ReachProduction, nil
	case singleLabel(bare) && nearby(nameOrURL):
		return interlock.ReachExternal, []string{TraitInside}
	}
	return interlock.ReachExternal, nil
}

// everyAddress reports whether a name is all addresses there are, as a scanner is given them: 0.0.0.0/0, and not this machine.
func everyAddress(name string) bool {
	length, ok := strings.CutPrefix(name, "0.0.0.0/")
	return ok && len(length) > 0 && len(length) < 3 && strings.Trim(length, "0123456789") == ""
}

// production reports whether a name (host, context, database, bucket) is production.
func (w *world) production(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range w.view.Production {
		if matchGlob(strings.ToLower(pattern), name) {
			return true
		}
	}
	for _, pattern := range w.know.pathTable().production {
		if matchGlob(pattern, name) {
			return true
		}
	}
	return false
}

// localContext reports whether a context has the name that tools give to clusters they set up on this machine.
func (w *world) localContext(name string) bool {
	for _, pattern := range w.know.pathTable().local {
		if matchGlob(pattern, name) {
			return true
		}
	}
	return false
}

// hostOf returns host[:port] of a URL, of user@host:path, or of a name that is just that; it never returns credentials.
func hostOf(name string) string {
	scheme, rest, isURL := strings.Cut(name, "://")
	if isURL && !strings.ContainsAny(scheme, "/@ ") {
		name = rest
	}
	if i := strings.IndexAny(name, "/?#"); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = name[i+1:]
	}
	if host, after, ok := strings.Cut(name, ":"); ok && !isURL && after != "" && strings.Trim(after, "0123456789") != "" && !strings.Contains(after, ":") {
		name = host // scp's host:path
	}
	return strings.ToLower(name)
}

func portOf(hostPort string) string {
	if i := strings.LastIndexByte(hostPort, ':'); i >= 0 {
		return hostPort[i+1:]
	}
	return ""
}

// cleanURL is a URL or remote name as it may be shown: without credentials, query or fragment.
func cleanURL(name string) string {
	scheme, rest, isURL := strings.Cut(name, "://")
	if i := strings.IndexAny(rest, "?#"); isURL && i >= 0 {
		rest = rest[:i]
	}
	if !isURL {
		if i := strings.IndexAny(name, "?#"); i >= 0 {
			name = name[:i]
		}
		return name
	}
	authority, tail, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if slash {
		tail = "/" + tail
	}
	return scheme + "://" + authority + tail
}
