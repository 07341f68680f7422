package shell

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
)

// fetched records what a command that fetches leaves where: a clone in the directory named last, or called like its source;
// remote files under their own names in the directory, or under the name, that stands last.
func (r *shellRun) fetched(u *flow.Use, base interlock.Impact, what string) {
	operands := u.Operands
	if len(operands) == 0 {
		r.S.Touch(".", base)
		return
	}
	if what == "clone" {
		to := lastPart(operands[0], ".git")
		if len(operands) > 1 {
			to = operands[1]
		}
		r.pathTarget(base, to)
		r.clonedBare(u, to)
		from := operands[0].Text
		reach, _ := r.S.Host(from)
		if outside := reach == interlock.ReachExternal || reach == interlock.ReachProduction; outside &&
			(isRemote(from) || strings.Contains(from, "://")) {
			r.files[fetchedTree+r.PlaceOf(to, true).Path] = flow.Flow{Network: true}
		}
		return
	}
	last := operands[len(operands)-1]
	for _, from := range operands[:len(operands)-1] {
		if !isRemote(from.Text) || isRemote(last.Text) || !r.S.Spend(1) {
			continue
		}
		to := last
		if name := lastPart(from, ""); last.Text == "." || strings.HasSuffix(last.Text, "/") {
			to.Text = path.Join(last.Text, name.Text)
			to.Dynamic = last.Dynamic || name.Dynamic
		}
		r.pathTarget(base, to)
	}
}

// unpacked notes that an archive which came over a network was unpacked into a directory, under names that are not known.
func (r *shellRun) unpacked(i *interlock.Impact, from flow.Flow) {
	if i.Kind != interlock.ImpactWrite || !from.Network || i.Has(fact.TraitDownload) {
		return
	}
	name, _, _ := strings.Cut(i.Via, " ")
	switch path.Base(name) {
	case "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "unrar", "cpio", "Expand-Archive":
		r.files[unpackedTree+r.whole(i.Target)] = flow.Flow{Network: true}
	}
}

// inUnpacked reports whether a place lies below where such an archive was unpacked, so many levels deeper at least, and is no
// file that stood there before.
func (r *shellRun) inUnpacked(name string, deeper int) bool {
	if _, own := r.S.View.Scripts[name]; own || name == "" {
		return false
	}
	levels := -deeper
	for name = r.whole(name); levels < 32 && name != "/" && name != ""; levels++ {
		if levels > 0 && r.files[unpackedTree+name].Network {
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

// whole is a place as seen from one that never changes: the root, or where the action began.
func (r *shellRun) whole(name string) string { return path.Clean(name) }

// The marks of trees stand before their paths, among the files an action wrote: one that was fetched, and one into which an
// archive was unpacked.
const (
	fetchedTree  = "tree "
	unpackedTree = "unpacked "
)

// settingValue is the address in a setting key=address, or the text itself.
func settingValue(text string) string {
	key, value, ok := strings.Cut(text, "=")
	if ok && strings.Contains(value, "://") && !strings.ContainsAny(key, "/?") {
		return value
	}
	return text
}

// registry says of an address that packages are to come from whether everybody takes theirs from there.
func (r *shellRun) registry(i interlock.Impact, t flow.Field) interlock.Impact {
	host := place.HostOf(t.Text)
	if name, _, ok := strings.Cut(host, ":"); ok {
		host = name
	}
	if i.Reach != interlock.ReachExternal || t.Dynamic || !strings.Contains(t.Text, "://") {
		return i
	}
	for _, known := range r.S.Know.PathTable().Registries {
		if host == known || strings.HasSuffix(host, "."+known) {
			return i
		}
	}
	i.Traits = append(i.Traits, fact.TraitPackage, fact.TraitForeign)
	return i
}

// strangersImage reports whether an image of a container comes from a host of somebody's own, and not from one that everybody
// takes images from. A name without a host is one of the public collection.
func (r *shellRun) strangersImage(t flow.Field) bool {
	host, _, ok := strings.Cut(t.Text, "/")
	if !ok || t.Dynamic || !strings.Contains(host, ".") {
		return false
	}
	if reach, _ := r.S.Host(host); reach != interlock.ReachExternal {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	for _, known := range r.S.Know.PathTable().Images {
		if host == known || strings.HasSuffix(host, "."+known) {
			return false
		}
	}
	return true
}

// lastPart is what a fetched thing is called: the last part of the place it comes from.
func lastPart(from flow.Field, suffix string) flow.Field {
	name := strings.TrimRight(from.Text, "/")
	name = name[strings.LastIndexAny(name, "/:")+1:]
	from.Text = strings.TrimSuffix(name, suffix)
	from.Lead = false
	return from
}

// inFetched reports whether a place lies in a tree that this action fetched.
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

// ranFetched marks what runs, builds or installs from a tree this action fetched: a program in it, or one that does what files
// in the working directory say.
func (r *shellRun) ranFetched(i *interlock.Impact) {
	switch {
	case i.Has(fact.TraitDownloadRun) || i.Has(fact.TraitInline) || len(r.files) == 0:
		return
	case i.Kind == interlock.ImpactExecute && i.Target != "" && r.inFetched(i.Target):
	case i.Kind == interlock.ImpactExecute && r.inUnpacked(i.Target, 1):
	case r.S.Dir == "" || !r.inFetched(r.S.Dir) && !r.inUnpacked(r.S.Dir, 0):
		return
	case i.Kind == interlock.ImpactExecute:
	case i.Kind == interlock.ImpactWrite && i.Has(fact.TraitPackage) && fromManifest(i.Via):
	default:
		return
	}
	i.Traits = append(i.Traits, fact.TraitFetchedRun)
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

// transfer reads the commands of a file transfer client: what they send, where to, and what they run here.
func (r *shellRun) transfer(text string) flow.Flow {
	host := ""
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == ';' }) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-@")
		if !r.S.Spend(1 + len(line)/16) {
			break
		}
		if command, ok := strings.CutPrefix(line, "!"); ok {
			r.S.Within++
			r.subshell(func() flow.Flow { return r.script(command, flow.Flow{}) })
			r.S.Within--
			continue
		}
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "open", "connect":
			host = words[1]
		case "put", "mput", "send", "append", "reput", "pput":
			r.transferred(words[1:], host)
		case "mirror":
			if words[1] == "-R" || words[1] == "--reverse" {
				r.transferred(words[2:], host)
			}
		case "get", "mget", "recv", "reget", "pget":
			r.received(words[1:])
		case "lcd":
			r.S.Dir = r.S.Place(words[1]).Path
		}
	}
	return flow.Flow{}
}

// transferred records that a file of this machine is sent: the first name of a command, or every one where it takes many.
func (r *shellRun) transferred(names []string, host string) {
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			continue
		}
		p := r.S.Place(strings.Trim(name, `"'`))
		impacts := r.S.Capture(func() {
			r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactRead, Via: "put", Traits: []string{fact.TraitUpload}})
		})
		sent := interlock.Impact{Kind: interlock.ImpactNetwork, Target: host, Reach: interlock.ReachExternal,
			Reversibility: interlock.Window,
			Via:           "put", Traits: []string{fact.TraitUpload}}
		if host != "" {
			sent.Reach, _ = r.S.Host(host)
		}
		held, known := r.files[p.Path]
		if known && held.Secret {
			sent.Traits = append(sent.Traits, fact.TraitSecretSend)
		}
		for _, i := range impacts {
			if i.Has(fact.TraitSecret) && !sent.Has(fact.TraitSecretSend) {
				sent.Traits = append(sent.Traits, fact.TraitSecretSend)
			}
			r.S.Add(i)
		}
		if sent.Has(fact.TraitSecretSend) {
			sent.Reversibility = interlock.Irreversible
		}
		r.S.Add(sent)
		return // a second name is what it is called there
	}
}

// received records that a file comes in, under its own name or the one that follows.
func (r *shellRun) received(names []string) {
	name := names[len(names)-1]
	p := r.S.Place(strings.Trim(name[strings.LastIndexByte(name, '/')+1:], `"'`))
	r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: "get",
		Traits: []string{fact.TraitDownload, fact.TraitOverwrite}})
	r.files[p.Path] = flow.Flow{Network: true, Written: true}
}
