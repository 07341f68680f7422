package call

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/impact/web"
	"interlock/internal/lex"
)

// pathArgument reads a path: the call's own verb is done to it, and anything else at least reads it.
func (s callRun) pathArgument(c *call, text string) {
	if holdsAddress(text) {
		if scheme, _, ok := web.SplitScheme(text); ok && !web.IsWeb(scheme) && web.ReadsLocator(&s.World, text, c.name) {
			return
		}
		s.urlArgument(c, text)
	}
	whole, pieces := pathsIn(text)
	if whole != "" {
		s.pathNamed(c, whole)
		switch c.kind {
		case interlock.ImpactWrite, interlock.ImpactDelete, interlock.ImpactRead:
			c.placed = true
		}
	}
	for _, piece := range pieces {
		if s.afford(c) {
			s.pathNamed(c, piece)
		}
	}
}

// pathNamed records what the call does to one path.
func (s callRun) pathNamed(c *call, name string) {
	c.sent = true
	path, i := spelled(name, interlock.Impact{Kind: interlock.ImpactRead, Via: c.name, Traits: slices.Clone(c.traits)})
	switch c.kind {
	case interlock.ImpactWrite, interlock.ImpactDelete:
		i.Kind = c.kind
	case interlock.ImpactExecute:
		i.Kind = interlock.ImpactWrite // what the tool does is not known; it may change what it is pointed at
		if c.verb == "execute" {
			i.Kind = interlock.ImpactExecute
		}
	}
	if c.reach == interlock.ReachProduction {
		i.Reach = c.reach
	}
	s.Touch(path, i)
	if i.Kind == interlock.ImpactWrite && lex.Has(c.words, "extract", "unpack", "unzip", "untar", "decompress", "clone", "checkout") {
		s.placesFolder(c, path)
	}
	if i.Kind == interlock.ImpactExecute { // whatever is done with it, it is read
		if p := s.Place(path); fact.HasTrait(p.Traits, fact.TraitSecret) {
			i.Kind = interlock.ImpactRead
			s.Touch(path, i)
		}
	}
}

// unnamedPath reads an argument whose name says nothing of paths, unless it is one of a transfer, which are read together.
func (s callRun) unnamedPath(c *call, key, text string) {
	if c.transfers == "" || !slices.Contains(transferFromKeys, key) && !slices.Contains(transferToKeys, key) {
		s.sensitivePlace(c, text)
	}
}

// sensitivePlace reads a text that may be a path: servers call their arguments what they like. Most that looks like one is a
// route, a command or a key of some store, so only a place that somebody cares about counts.
func (s callRun) sensitivePlace(c *call, text string) {
	if scheme, _, ok := web.SplitScheme(text); ok && !web.IsWeb(scheme) && scheme != "file" &&
		!strings.ContainsAny(text, " \n") && s.afford(c) {
		web.ReadsLocator(&s.World, text, c.name)
	}
	if !lex.BeginsPath(text) && !lex.Ascends(text) || strings.IndexByte(text, '\n') >= 0 || !s.afford(c) {
		return
	}
	path, _ := place.PlainPath(text)
	if p := s.Place(path); len(p.Traits) > 0 || p.Reach == interlock.ReachSelf {
		s.pathNamed(c, text)
	}
}

// spelled returns the path that a name is read as by somebody, and the impact with what its spelling says: what is encoded
// depends on who decodes it.
func spelled(name string, i interlock.Impact) (string, interlock.Impact) {
	path, odd := place.PlainPath(name)
	if odd {
		i.Confidence, i.Traits = interlock.Unknown, append(slices.Clip(i.Traits), fact.TraitObfuscated, fact.TraitInjection)
	}
	return path, i
}

// pathsIn returns the path that a text is, and those that stand in it where it may be a list or something else altogether. A
// text that begins as a path does, or goes up on its way, is one whatever else it holds: the program that opens it takes it as
// it is, and a comma, a brace or a line end that comes before /../ is nothing to it.
func pathsIn(text string) (whole string, pieces []string) {
	mixed := len(text) > 4096 || strings.ContainsAny(text, "\n{}") || strings.Contains(text, ", ")
	if !mixed && !holdsAddress(text) || lex.Ascends(text) || lex.BeginsPath(text) {
		whole = text
	}
	if mixed {
		for _, line := range strings.Split(text, "\n") {
			for _, piece := range strings.Split(line, ", ") {
				if piece = strings.TrimSpace(piece); piece != text && lex.BeginsPath(piece) {
					pieces = append(pieces, piece)
				}
			}
		}
	}
	return whole, pieces
}

// holdsAddress reports whether a text is or holds an address that is no file's.
func holdsAddress(text string) bool {
	return strings.Contains(text, "://") && !strings.HasPrefix(text, "file://")
}
