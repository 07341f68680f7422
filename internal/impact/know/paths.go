package know

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// foreign reports whether a path lies in the directory that a version control keeps for itself, but is none of its own: what
// another tool has put there, or a lock that a crashed command has left behind.
func (t *PathTable) foreign(clean string) bool {
	_, inner, found := strings.Cut(clean, "/.git/")
	if !found {
		inner, found = strings.CutPrefix(clean, ".git/")
	}
	if !found || inner == "" || strings.ContainsAny(inner, "*?[$`{") || strings.HasPrefix(inner, "..") {
		return false
	}
	first, _, _ := strings.Cut(strings.ToLower(inner), "/")
	if t.git[first] {
		return strings.HasSuffix(inner, ".lock")
	}
	return !strings.HasSuffix(first, "_head") && !strings.HasPrefix(first, "bisect_")
}

// pathsDescription is rules/paths.yaml.
type pathsDescription struct {
	About  string              `json:"about,omitempty"`
	Traits map[string][]string `json:"traits"` // trait -> patterns
	// trait -> patterns of keys and values below a hive of Windows' registry, in lower case
	Registry map[string][]string `json:"registry"`
	Scratch  []string            `json:"scratch"` // patterns of scratch space, which counts as workspace
	// patterns of what is fetched or built again when it is missing, which counts as workspace
	Caches     []string `json:"caches"`
	Self       []string `json:"self"`       // patterns of Interlock's own files
	System     []string `json:"system"`     // first components of system paths
	Projects   []string `json:"projects"`   // first components under which projects are kept
	Personal   []string `json:"personal"`   // directories below a home directory that hold no projects
	Metadata   []string `json:"metadata"`   // hosts that hand out cloud credentials
	Loopback   []string `json:"loopback"`   // hosts that are this machine
	Images     []string `json:"images"`     // hosts from which everybody takes images of containers, and all below them
	Registries []string `json:"registries"` // hosts from which everybody takes packages, and all below them
	Local      []string `json:"local"`      // globs of names of clusters and contexts on this machine
	Repository []string `json:"repository"` // patterns of the folders in which git keeps a repository of its own
	Production []string `json:"production"` // globs of names that are production
	Git        []string `json:"git"`        // what Git itself keeps in its directory, in lower case
	Public     []string `json:"public"`     // globs of system files that tell nothing about anybody
}

// A PathTable finds the patterns a path matches. Patterns begin with / (from the root), ~/ (from any home directory) or
// neither (anywhere); they end in / to cover a directory and all below; each component may be a glob; a leading ! takes
// the trait away again.
type PathTable struct {
	root, home, any map[string][]PathPattern  // by first component
	wild            []PathPattern             // anywhere, one component that is a glob
	wildNames       []wildName                // of wild, in the same order
	wildByEnd       map[byte][]PathPattern    // wild by the last letter of what they match
	wildOpen        []PathPattern             // wild that end in a glob character
	rootKeys        nameKeys                  // of root, in order
	homeKeys        nameKeys                  // of home, in order
	anyKeys         nameKeys                  // of any, in order
	ByTrait         map[string][]*PathPattern // of home, in order, those that give a trait
	System          map[string]bool
	Projects        map[string]bool
	Personal        map[string]bool
	Metadata        map[string]bool
	Loopback        map[string]bool
	Registries      []string
	Images          []string
	git             map[string]bool
	Repository      []string
	Production      []string
	Local           []string
	Public          []string
	Registry        []PathPattern // in a folded table
	fold            bool          // patterns and paths are compared in lower case
}

type PathPattern struct {
	Parts  []string
	Trait  string
	reach  interlock.Reach
	tree   bool // covers everything below
	cache  bool // nothing is lost with it
	Negate bool
}

func compilePaths(d pathsDescription, fold bool) (*PathTable, error) {
	t := &PathTable{root: map[string][]PathPattern{}, home: map[string][]PathPattern{}, any: map[string][]PathPattern{},
		wildByEnd: map[byte][]PathPattern{},
		System:    lex.Lookup(d.System), Projects: lex.Lookup(d.Projects), Personal: lex.Lookup(d.Personal),
		Metadata: lex.Lookup(d.Metadata), Loopback: lex.Lookup(d.Loopback),
		Registries: d.Registries, Images: d.Images, git: lex.Lookup(d.Git), Repository: d.Repository,
		Production: d.Production, Local: d.Local, Public: d.Public}
	t.fold = fold
	for _, name := range lex.SortedNames(d.Traits) {
		if !slices.Contains(traitNames(), name) {
			return nil, fmt.Errorf("unknown trait %q", name)
		}
		for _, pattern := range d.Traits[name] {
			t.put(pattern, PathPattern{Trait: name})
		}
	}
	if err := t.putRegistry(d.Registry); err != nil {
		return nil, err
	}
	for _, pattern := range d.Scratch {
		t.put(pattern, PathPattern{reach: interlock.ReachWorkspace})
	}
	for _, pattern := range d.Caches {
		t.put(pattern, PathPattern{reach: interlock.ReachWorkspace, cache: true})
	}
	for _, pattern := range d.Self {
		t.put(pattern, PathPattern{reach: interlock.ReachSelf})
	}
	homes := lex.SortedNames(t.home)
	t.rootKeys, t.homeKeys, t.anyKeys = keysOf(lex.SortedNames(t.root)), keysOf(homes), keysOf(lex.SortedNames(t.any))
	t.ByTrait = map[string][]*PathPattern{}
	for _, first := range homes {
		for i := range t.home[first] {
			if m := &t.home[first][i]; !m.Negate {
				t.ByTrait[m.Trait] = append(t.ByTrait[m.Trait], m)
			}
		}
	}
	return t, nil
}

// putRegistry keeps the registry's patterns in a folded table only, which is where they are looked for.
func (t *PathTable) putRegistry(described map[string][]string) error {
	for _, name := range lex.SortedNames(described) {
		if !slices.Contains(traitNames(), name) {
			return fmt.Errorf("registry: unknown trait %q", name)
		}
		for _, pattern := range described[name] {
			if t.fold {
				p := PathPattern{Trait: name}
				pattern, p.Negate = strings.CutPrefix(pattern, "!")
				pattern, p.tree = strings.CutSuffix(pattern, "/")
				p.Parts = strings.Split(strings.ToLower(pattern), "/")
				t.Registry = append(t.Registry, p)
			}
		}
	}
	sort.SliceStable(t.Registry, func(i, j int) bool { return !t.Registry[i].Negate && t.Registry[j].Negate })
	return nil
}

func (t *PathTable) put(pattern string, p PathPattern) {
	pattern, p.Negate = strings.CutPrefix(pattern, "!")
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
	p.Parts = strings.Split(pattern, "/")
	if IsGlob(p.Parts[0]) {
		if len(p.Parts) == 1 && anywhere && !p.tree {
			t.wild, t.wildNames = append(t.wild, p), append(t.wildNames, wildNameOf(pattern))
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
	index[p.Parts[0]] = append(index[p.Parts[0]], p)
}

// Match fills in what the patterns say about a clean path.
func (t *PathTable) Match(p *Place, home string, inHome bool) {
	if t.any == nil {
		return
	}
	m := matching{t: t, place: *p, glob: IsGlob(p.Path) || IsGlob(home), anchored: true}
	rest := strings.TrimPrefix(p.Path, "/")
	if t.fold {
		rest, home = strings.ToLower(rest), strings.ToLower(home)
	}
	if lex.IsDrive(p.Path) {
		rest = strings.TrimSuffix(strings.ToLower(rest), "/")
	}
	if p.Path != "" && (p.Path[0] == '/' || lex.IsDrive(p.Path)) {
		m.below(t.root, &t.rootKeys, rest)
	}
	if inHome {
		m.below(t.home, &t.homeKeys, home)
	}
	m.anchored = false
	m.anywhere(inWorktree(rest))
	*p = m.place
	if len(p.Traits) > 0 && (t.foreign(p.Path) || besideGit(p.Path)) {
		m.drop = append(m.drop, fact.TraitHistory)
	}
	if drop := m.drop; len(drop) > 0 {
		p.Traits = slices.DeleteFunc(p.Traits, func(trait string) bool { return slices.Contains(drop, trait) })
	}
}

// A matching is one path held against the table.
type matching struct {
	t        *PathTable
	place    Place    // the path, with what was found
	drop     []string // traits that a pattern takes away again
	glob     bool     // a part of the path is a pattern
	anchored bool     // the patterns being asked are for one place, not for wherever a name is
}

// note notes what patterns say about the rest of the path.
func (m *matching) note(list []PathPattern, rest string) {
	for i := range list {
		m.noteOne(&list[i], rest)
	}
}

func (m *matching) noteOne(pattern *PathPattern, rest string) {
	is := Guess{Covers: pattern.Covers(rest), sure: true}
	if !is.Covers && m.glob && !pattern.Negate {
		is = pattern.MayCover(rest, m.anchored)
	}
	if !is.Covers {
		return
	}
	p := &m.place
	switch {
	case pattern.Negate:
		m.drop = append(m.drop, pattern.Trait)
	// where nothing is spelled, only what is worst to lose counts
	case pattern.Trait != "" && is.loose && pattern.Trait != fact.TraitSecret:
	case pattern.Trait != "":
		p.Traits = append(p.Traits, pattern.Trait)
	case !is.sure && pattern.reach == interlock.ReachWorkspace: // what a pattern only may mean is no scratch space
	case is.loose:
		p.MaybeSelf = p.MaybeSelf || strings.Count(rest, "/") >= len(pattern.Parts)
	default:
		p.Reach = pattern.reach
		p.Passing = pattern.reach == interlock.ReachWorkspace && !pattern.cache
		p.Scratch = pattern.reach == interlock.ReachWorkspace && !pattern.cache &&
			strings.Count(rest, "/") == len(pattern.Parts)-1
	}
}

// below notes what patterns say that begin at the root, or at the home directory.
func (m *matching) below(index map[string][]PathPattern, keys *nameKeys, rest string) {
	first, _, _ := strings.Cut(rest, "/")
	m.beginning(index, keys, first, rest)
}

// beginning notes what patterns say whose first part the rest of the path begins with. They are kept by that part, and a
// path whose own part is a pattern may mean any of them.
func (m *matching) beginning(index map[string][]PathPattern, keys *nameKeys, first, rest string) {
	m.note(index[first], rest)
	m.note(index["*"], rest)
	if !m.glob || !IsGlob(first) {
		return
	}
	if !m.anchored && LettersOf(first) == 0 { // no sign of any name
		m.note(index["*"], rest)
		return
	}
	spells := lettersSpelled(first)
	for i, has := range keys.has {
		if spells.within(has) {
			m.note(index[keys.names[i]], rest)
		}
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
	if !below || name == "" || inner == "" || IsGlob(name) || name == ".." || strings.Contains(inner, worktrees) {
		return rest
	}
	return rest[:i] + inner
}

// anywhere notes what patterns say that hold wherever in a path they stand.
func (m *matching) anywhere(rest string) {
	for rest != "" {
		first, after, more := strings.Cut(rest, "/")
		m.beginning(m.t.any, &m.t.anyKeys, first, rest)
		if !more {
			m.lastPart(rest)
			break
		}
		rest = after
	}
}

// lastPart notes what patterns of one component say about a path's last one. Every path is held against many of them, so
// the last letter chooses; in a path with patterns, which may end in any, all the letters do.
func (m *matching) lastPart(name string) {
	switch {
	case name == "":
	case m.glob:
		last := lastNameOf(name)
		for i := range m.t.wild {
			if last.mayBe(&m.t.wildNames[i]) {
				m.noteOne(&m.t.wild[i], name)
			}
		}
	default:
		m.note(m.t.wildByEnd[name[len(name)-1]], name)
		m.note(m.t.wildOpen, name)
	}
}

// Covers reports whether the pattern matches rest, or a directory above it if the pattern is a tree.
func (m *PathPattern) Covers(rest string) bool {
	for i, part := range m.Parts {
		var name string
		var more bool
		name, rest, more = strings.Cut(rest, "/")
		if name != part && !MatchGlob(part, name) {
			return false
		}
		if !more {
			return i == len(m.Parts)-1
		}
	}
	return m.tree
}

func IsGlob(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '*' || c == '?' || c == '[' {
			return true
		}
	}
	return false
}

// MatchGlob reports whether name matches a pattern of literals, *, ? and [classes]. It takes time linear in the product
// of the lengths and never fails: a malformed class is a literal.
func MatchGlob(pattern, name string) bool {
	// Most names end in another letter than most patterns do, and every path is held against a hundred of them.
	if len(pattern) > 0 && len(name) > 0 {
		if last := pattern[len(pattern)-1]; last != name[len(name)-1] && last != '*' && last != '?' &&
			last != ']' && last != '[' {
			return false
		}
	}
	return MatchGlobSlowly(pattern, name)
}

func MatchGlobSlowly(pattern, name string) bool {
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

// CleanURL is a URL or remote name as it may be shown: without credentials, query or fragment.
func CleanURL(name string) string {
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
