package impact

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
)

// maxBrought bounds the places one action is remembered to have brought something into.
const maxBrought = 8

// Brought returns the places into which an action brings what came over a network, or what it makes of what an earlier action
// brought, as View.Fetched has them: files and trees by their names, and with /* at the end what was unpacked there.
func Brought(view interlock.View, impacts []interlock.Impact) (names []string) {
	if !fromOutside(impacts) {
		return nil
	}
	for n := range impacts {
		i := &impacts[n]
		if i.Kind != interlock.ImpactWrite || len(names) >= maxBrought || i.Has(fact.TraitDryRun) || i.Has(fact.TraitDynamic) ||
			i.Target == "" || strings.ContainsAny(i.Target, "*?$\n") {
			continue
		}
		name := i.Target
		switch {
		case i.Has(fact.TraitUnpacked):
			name = strings.TrimSuffix(name, "/") + "/*"
		case !i.Has(fact.TraitDownload) && !i.Has(fact.TraitFetched):
			continue
		case name == "." || name == "/" || name == view.Home || view.Workspace == name || strings.HasPrefix(view.Workspace, name+"/"):
			continue // everything lies in these, which says nothing
		}
		for _, one := range [...]string{name, expanded(i)} {
			if one != "" && !slices.Contains(names, one) {
				names = append(names, one)
			}
		}
	}
	return names
}

// fromOutside reports whether an action reaches a network outside, or none, as one does that copies what was fetched.
func fromOutside(impacts []interlock.Impact) bool {
	reaches := false
	for n := range impacts {
		i := &impacts[n]
		if i.Kind != interlock.ImpactNetwork && (i.Kind != interlock.ImpactRead || !strings.Contains(i.Target, "://")) {
			continue
		}
		if i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction {
			return true
		}
		reaches = true
	}
	return !reaches
}

// expanded is what a program that takes a file out of its compression leaves in its place.
func expanded(i *interlock.Impact) string {
	program, _, _ := strings.Cut(i.Via, " ")
	switch program {
	case "gunzip", "gzip", "bunzip2", "bzip2", "unxz", "xz", "unlzma", "lzma", "unzstd", "zstd", "uncompress",
		"unlz4", "lz4", "brotli":
		name := i.Target
		if dot := strings.LastIndexByte(name, '.'); dot > strings.LastIndexByte(name, '/')+1 {
			return name[:dot]
		}
	}
	return ""
}
