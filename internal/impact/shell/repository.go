package shell

import (
	"path"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// Git runs what the settings of a repository name: pagers, filters, file watchers, hooks. Which folder it takes for
// the repository can be said in many ways, and a folder of any name will do. One of an unusual name may have been
// made, or fetched, for that alone; so its settings are read, and where they can't be, that is what a person is asked
// about.

// repository judges a folder that a command is told to take for its repository.
func (r *shellRun) repository(u *flow.Use, name string, folder flow.Field) {
	p := r.PlaceOf(folder, true)
	if folder.Text == "" || p.Path == "/dev/null" || makesRepository(u) || r.isThatAlready(folder) ||
		r.files[cloned+p.Path].Written || r.S.Repository(p.Path) && !r.cameAlong(p.Path) {
		return
	}
	r.repositoryAt(u, name, p)
}

// cameAlong reports whether a folder lies among the files of something this action fetched, and is not what git made
// of the fetched itself. A clone has one repository, and whatever else looks like one in it is a file its author
// wrote.
func (r *shellRun) cameAlong(folder string) bool {
	if len(r.files) == 0 || !r.inFetched(path.Dir(folder)) && !r.inUnpacked(folder, 1) {
		return false
	}
	top, _, inside := strings.Cut(folder+"/", "/.git/")
	return !inside || !r.files[fetchedTree+top].Network
}

// makesRepository reports whether a use of a command puts a repository there, which obeys no settings of one.
func makesRepository(u *flow.Use) bool {
	return slices.ContainsFunc(u.Spec.Impacts, func(e know.Effect) bool { return e.What == "clone" })
}

// isThatAlready reports whether a folder is the one git was told to take before this action began, whatever that is.
func (r *shellRun) isThatAlready(folder flow.Field) bool {
	name := strings.Trim(folder.Text, "${}")
	_, set := r.vars[name]
	return folder.Dynamic && !set && (name == "GIT_DIR" || name == "GIT_COMMON_DIR")
}

// repositoryAt judges the settings and hooks of a folder that is obeyed as a repository.
func (r *shellRun) repositoryAt(u *flow.Use, name string, p know.Place) {
	if !r.S.Spend(16) {
		return
	}
	unseen := interlock.Impact{Kind: interlock.ImpactExecute, Target: p.Path, Reach: interlock.ReachWorkspace, Via: u.Via,
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitObeyed}}
	config := path.Join(p.Path, "config")
	text, made, ok := "", false, false
	if !fact.HasTrait(p.Traits, fact.TraitDynamic) && !fact.HasTrait(p.Traits, fact.TraitGlob) {
		text, made, ok = r.fileText(config)
	}
	if !ok || r.bringsMore(p.Path) || strings.Contains(strings.ToLower(text), "worktreeconfig") ||
		!r.settingsText(u, name, text) {
		r.S.Add(unseen)
		return
	}
	if made {
		r.obeys = append(r.obeys, settingsFile{config, text, []interlock.Impact{unseen}})
	}
}

// fileText is what a file holds, and whether this action has put it there.
func (r *shellRun) fileText(name string) (text string, made, ok bool) {
	if held, made := r.files[name]; made {
		return held.Text, true, held.Known
	}
	text, ok = r.S.ScriptAt(know.Place{Path: name})
	return text, false, ok
}

// bringsMore reports whether a repository takes its settings from somewhere else, or has hooks.
func (r *shellRun) bringsMore(folder string) bool {
	if _, _, ok := r.fileText(path.Join(folder, "commondir")); ok {
		return true
	}
	hooks := path.Join(folder, "hooks") + "/"
	if r.S.Spend(len(r.files)) {
		for name, held := range r.files { // any of them will do
			if held.Written && strings.HasPrefix(name, hooks) && !strings.HasSuffix(name, ".sample") {
				return true
			}
		}
	}
	// all but those that git brings as samples
	_, ok := r.S.ScriptAt(know.Place{Path: hooks + "*[^l]?", Traits: []string{fact.TraitGlob}})
	return ok
}

// standsInRepository judges a folder that a command takes for its repository because it runs in it or below it,
// where this action has made that folder: the files of a repository need no folder of a known name around them.
func (r *shellRun) standsInRepository(u *flow.Use) {
	if len(r.files) == 0 {
		return
	}
	spec := rootOf(u.Spec)
	if spec.Folder == "" {
		return
	}
	here := r.S.Place(".")
	if strings.HasSuffix(here.Path, ".git") && r.cameAlong(here.Path) {
		r.repositoryAt(u, spec.Folder, here)
		return
	}
	for dir, up := here.Path, 0; up < 8; up++ {
		if r.files[path.Join(dir, "HEAD")].Written && r.files[path.Join(dir, "config")].Written && !r.S.Repository(dir) {
			r.repositoryAt(u, spec.Folder, r.S.Place(dir))
			return
		}
		next := path.Dir(dir)
		if next == dir {
			return
		}
		dir = next
	}
}

// cloned begins the mark of a repository that this action cloned, whose settings git itself wrote.
const cloned = "cloned "

// clonedBare notes a repository that a clone puts into a folder without files around it.
func (r *shellRun) clonedBare(u *flow.Use, to flow.Field) {
	for _, g := range u.Flags {
		if g.Name == "--bare" || g.Name == "--mirror" {
			r.files[cloned+r.PlaceOf(to, true).Path] = flow.Flow{Written: true}
		}
	}
}

// becomesRepository judges a link, a copy or a move that makes a folder of another name the repository of the folder
// it is put in, or one where nobody wonders at it.
func (r *shellRun) becomesRepository(u *flow.Use, to, name flow.Field) {
	base := path.Base(name.Text)
	if !strings.HasSuffix(base, ".git") || name.Dynamic || path.Base(to.Text) == base {
		return
	}
	if spec := r.S.Know.Lookup("git"); spec != nil && spec.Folder != "" {
		r.repository(u, spec.Folder, to)
	}
}

// putInFiles judges what this action has put into files, as far as that is known, as what a file tool puts there.
func (r *shellRun) putInFiles() {
	var names []string
	for name, held := range r.files {
		if held.Written && held.Known && held.Text != "" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		held := r.files[name]
		if !r.S.Spend(8 + len(held.Text)/64) {
			return
		}
		r.S.Readers.Written(r.S, ">", name, held.Text)
	}
}
