package shell

import (
	"path"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// fetched records what a command that fetches leaves where: a clone in the directory named last, or called like its source;
// remote files under their own names in the directory, or under the name, that comes last.
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
		r.becomesTree(base, to)
		if from := operands[0].Text; r.strangers(from, u.Via) {
			r.files[fetchedTree+r.PlaceOf(to, true).Path] = flow.Flow{Network: true, Fetched: true, Source: from}
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
		if !slices.ContainsFunc(u.Spec.Impacts, func(e know.Effect) bool { return e.Kind == interlock.ImpactNetwork }) {
			r.files[fetchedTree+r.PlaceOf(to, true).Path] = flow.Flow{Network: true, Fetched: true, Source: from.Text} // a container's
		}
	}
}

// becomesTree records that a tree which is fetched becomes a folder of the home in which programs look for what they begin with:
// the settings of an editor, a shell or a desktop.
func (r *shellRun) becomesTree(base interlock.Impact, to flow.Field) {
	p := r.PlaceOf(to, true)
	if p.Reach != interlock.ReachHome || to.Dynamic || fact.HasTrait(p.Traits, fact.TraitStartup) || !r.S.Spend(50) ||
		!r.S.Holds(p.Path, "*", fact.TraitStartup) {
		return
	}
	base.Confidence, base.Traits = interlock.Inferred, []string{fact.TraitStartup, fact.TraitDownload}
	r.S.TouchPlace(p, base)
}

// settingValue is the address in a setting key=address, or the text itself.
func settingValue(text string) string {
	key, value, ok := strings.Cut(text, "=")
	if ok && strings.Contains(value, "://") && !strings.ContainsAny(key, "/?") {
		return value
	}
	return text
}

// strangest returns the address of a list that not everybody takes packages from, and where there is none the whole.
func (r *shellRun) strangest(list string) string {
	if !strings.ContainsAny(list, ",|") {
		return list
	}
	parts := strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == '|' })
	for _, one := range parts[:min(len(parts), fact.MaxItems)] {
		if i := r.registry(interlock.Impact{Reach: interlock.ReachExternal}, flow.Literal(one)); len(i.Traits) > 0 {
			return one
		}
	}
	if len(parts) > 0 {
		return parts[0]
	}
	return list
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

// registriesIn judges the addresses that a file of settings names as where packages come from: lines key = value or
// key: value, as package managers write them.
func (r *shellRun) registriesIn(u *flow.Use, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if !r.S.Spend(1 + len(line)/16) {
			return
		}
		at := strings.IndexAny(line, "=")
		if at < 0 || strings.Contains(line[:at], "://") {
			if at = strings.Index(line, ": "); at < 0 {
				continue
			}
		}
		key := strings.ToLower(strings.Trim(line[:at], " \t\"'"))
		switch key = key[strings.LastIndexAny(key, ":.")+1:]; key {
		case "registry", "index", "index-url", "extra-index-url", "npmregistryserver", "url":
			value := strings.Trim(line[at+1:], " \t\r\"'{},")
			if strings.Contains(value, "://") {
				r.effect(u, know.Effect{Kind: interlock.ImpactNetwork, Target: "value", What: "registry",
					Words: know.Words{Reversibility: interlock.Reversible, Traits: []string{fact.TraitDownload}}},
					flow.Literal(value), flow.Streams{})
			}
		}
	}
}
