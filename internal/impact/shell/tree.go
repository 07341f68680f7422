package shell

import (
	"path"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
)

// The marks of trees stand before their paths, among the files an action wrote: one that was fetched, and one into which an
// archive was unpacked that was.
const (
	fetchedTree  = "tree "
	unpackedTree = "unpacked "
	// and where a command that reaches a network itself changes what it likes: a pull, an update, packages that are installed
	worksIn = "works in "
)

// maxFetched bounds how many places of earlier actions are taken over.
const maxFetched = 64

// known takes over what earlier actions fetched.
func (r *shellRun) known() *shellRun {
	for n, name := range r.S.View.Fetched {
		if n >= maxFetched || !r.S.Spend(1) {
			break
		}
		earlier := flow.Flow{Network: true, Fetched: true, Source: strings.TrimSuffix(name, "/*")}
		if in, all := strings.CutSuffix(name, "/*"); all {
			r.files[unpackedTree+in] = earlier
		} else {
			r.files[fetchedTree+name] = earlier
		}
	}
	return r
}

// strangers reports whether a tree is fetched from somewhere else than this machine and its network.
func (r *shellRun) strangers(from, via string) bool {
	if via == "gh repo clone" || via == "glab repo clone" {
		return true
	}
	reach, _ := r.S.Host(from)
	outside := reach == interlock.ReachExternal || reach == interlock.ReachProduction
	return outside && (isRemote(from) || strings.Contains(from, "://"))
}

// unpacked notes that an archive which came over a network was unpacked into a directory, under names that are not known.
func (r *shellRun) unpacked(i *interlock.Impact, from flow.Flow) {
	if i.Kind != interlock.ImpactWrite || !from.Network || i.Has(fact.TraitDownload) {
		return
	}
	if unpacks(i.Via) {
		r.files[unpackedTree+r.whole(i.Target)] = flow.Flow{Network: true, Fetched: true, Source: i.Target}
	}
}

// unpacks reports whether a program fills a directory with what an archive holds.
func unpacks(via string) bool {
	name, _, _ := strings.Cut(via, " ")
	switch path.Base(name) {
	case "tar", "bsdtar", "gtar", "unzip", "bsdunzip", "7z", "7za", "7zz", "unrar", "unar", "cpio", "pax", "jar", "Expand-Archive":
		return true
	}
	return false
}

// whole is a place as seen from one that never changes: the root, or where the action began.
func (r *shellRun) whole(name string) string { return path.Clean(name) }

// inUnpacked reports whether a place lies below where such an archive was unpacked, so many levels deeper at least, and is no
// file that stood there before.
func (r *shellRun) inUnpacked(name string, deeper int) bool {
	if name == "" || !r.unpackedAny() || r.stoodThere(name) {
		return false
	}
	levels := -deeper
	for name = r.whole(name); levels < 32 && name != "/" && name != ""; levels++ {
		// a directory of its own is as new as what was unpacked there; the project's root is not
		if (levels > 0 || levels == 0 && !r.holdsAll(name)) && r.files[unpackedTree+name].Network {
			return true
		}
		next := path.Dir(name)
		if next == name {
			break
		}
		name = next
	}
	return false
}

// unpackedAny reports whether anything that was fetched was unpacked.
func (r *shellRun) unpackedAny() bool {
	if !r.S.Spend(len(r.files) / 16) {
		return true
	}
	for name := range r.files { // order-independent: any will do
		if strings.HasPrefix(name, unpackedTree) {
			return true
		}
	}
	return false
}

// stoodThere reports whether a file is the project's own: one that the door found before this action unpacked anything, or one
// that git has as it is.
func (r *shellRun) stoodThere(name string) bool {
	if _, own := r.S.View.Scripts[name]; own && len(r.S.View.Fetched) == 0 {
		return true
	}
	work, known := r.S.WorkAt(name)
	if !known || work.Untracked || work.Ignored || work.Absent {
		return false
	}
	for up := path.Dir(r.whole(name)); !r.holdsAll(up) && len(up) > 1; up = path.Dir(up) {
		if in, known := r.S.WorkAt(up); !known || in.Root { // a repository of its own may have come out of the archive
			return false
		}
	}
	return true
}

// holdsAll reports whether a directory is the project's root or above it.
func (r *shellRun) holdsAll(name string) bool {
	root := path.Clean(r.S.View.Workspace)
	return name == "." || name == root || strings.HasPrefix(root, name+"/") || name == path.Clean(r.S.View.Home)
}

// inFetched reports whether a place lies in a tree that this action fetched, or an earlier one.
func (r *shellRun) inFetched(name string) bool {
	for up := 0; up < 32 && name != "" && name != "/"; up++ {
		if r.files[fetchedTree+name].Network {
			return true
		}
		next := path.Dir(name)
		if next == name || next == "." {
			break
		}
		name = next
	}
	return false
}

// treeAt is what is known of a place's bytes because of the tree it lies in.
func (r *shellRun) treeAt(name string) flow.Flow {
	if len(r.files) == 0 || name == "" || !r.inFetched(name) && !r.inUnpacked(name, 1) {
		return flow.Flow{}
	}
	return flow.Flow{Network: true, Fetched: true, Source: name}
}

// ranFetched marks what runs, builds or installs from a tree that was fetched: a program in it, or one that does what files
// in the working directory say.
func (r *shellRun) ranFetched(i *interlock.Impact) {
	install := i.Kind == interlock.ImpactWrite && i.Has(fact.TraitPackage) && fromManifest(i.Via)
	if i.Kind == interlock.ImpactExecute || install {
		r.S.RanIn(r.S.Dir)
	}
	switch {
	case i.Has(fact.TraitDownloadRun) || i.Has(fact.TraitFetchedRun) || i.Has(fact.TraitInline) || len(r.files) == 0:
		return
	case i.Kind == interlock.ImpactExecute && i.Target != "" && r.inFetched(i.Target):
	case i.Kind == interlock.ImpactExecute && r.inUnpacked(i.Target, 1):
	case i.Kind == interlock.ImpactExecute && r.putOnPath(i.Target):
	case r.S.Dir == "" || !r.inFetched(r.S.Dir) && !r.inUnpacked(r.S.Dir, 0):
		return
	case i.Kind == interlock.ImpactExecute && !r.compiles(i.Via):
	case install:
	default:
		return
	}
	i.Traits = append(i.Traits, fact.TraitFetchedRun)
}

// putOnPath reports whether a program that is run by its name alone was fetched and put where names are looked up.
func (r *shellRun) putOnPath(name string) bool {
	if name == "" || strings.ContainsAny(name, "/ $*?") || !r.S.Spend(1) {
		return false
	}
	for _, dir := range fact.SearchedFolders() {
		at := r.S.Place(dir + "/" + name).Path
		if r.files[fetchedTree+at].Network || r.files[at].Network {
			return true
		}
	}
	return false
}

// compiles reports whether a program makes others of what lies in the working directory without doing what it says. Tests do
// what it says, but an agent that has them run in an action of its own has mostly come to look at the code.
func (r *shellRun) compiles(via string) bool {
	switch via {
	case "go build", "go vet", "go list", "go fmt", "go doc", "go mod":
		return true
	case "go test":
		return len(r.S.View.Fetched) > 0
	}
	return false
}

// makesProgram reports whether a command is a compiler or linker, which makes a program of sources.
func makesProgram(via string) bool {
	switch via {
	case "go build", "gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "tcc", "ld", "rustc", "swiftc", "nvcc", "emcc":
		return true
	}
	return false
}

// fromManifest reports whether a package manager runs what the working directory's own manifest says while it installs.
func fromManifest(via string) bool {
	name, _, _ := strings.Cut(via, " ")
	switch name {
	case "npm", "yarn", "pnpm", "bun", "composer", "bundle", "poetry", "uv", "pip", "pip3":
		return true
	}
	return false
}

// brought says of what the script wrote what came over a network, or out of what did, so that a later action is known to run it.
func (r *shellRun) brought() {
	if !slices.ContainsFunc(r.S.Impacts, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactWrite }) {
		return
	}
	for n := range r.S.Impacts {
		i := &r.S.Impacts[n]
		if i.Kind != interlock.ImpactWrite || i.Has(fact.TraitDownload) || i.Has(fact.TraitFetched) || i.Has(fact.TraitPackage) ||
			i.Target == "" {
			continue
		}
		unpacked := r.files[unpackedTree+r.whole(i.Target)].Network && unpacks(i.Via)
		if !unpacked && (!r.files[i.Target].Network && !r.files[fetchedTree+i.Target].Network || r.files[worksIn+i.Target].Network) {
			continue
		}
		i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitFetched)
		if unpacked {
			i.Traits = append(i.Traits, fact.TraitUnpacked)
		}
		sort.Strings(i.Traits)
	}
}

// changesHere notes what a command that reaches a network itself writes to and does not say it fetches: its own business, or
// names that are not known.
func (r *shellRun) changesHere(impacts []interlock.Impact) {
	for n := range impacts {
		if i := &impacts[n]; i.Kind == interlock.ImpactWrite && !i.Has(fact.TraitDownload) {
			r.files[worksIn+i.Target] = flow.Flow{Network: true}
		}
	}
}

// grown notes that a directory may have become one that holds what came over a network: a copy of a tree that did, or what
// was fetched into it.
func (r *shellRun) grown(name string, held flow.Flow, impacts []interlock.Impact) {
	if !held.Network || !held.Fetched || r.holdsAll(name) || name == "" || r.files[worksIn+name].Network {
		return
	}
	for n := range impacts {
		if impacts[n].Kind == interlock.ImpactWrite && impacts[n].Target == name && unpacks(impacts[n].Via) {
			return
		}
	}
	r.files[fetchedTree+name] = flow.Flow{Network: true, Fetched: true, Source: name}
}
