package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// Where programs and their parts are looked for: folders named by a variable, and folders into which a builder puts programs
// whose names nobody sees.

// maxModuleFolders bounds the folders of one search path.
const maxModuleFolders = 32

// searchesCommonPlace reports whether a list of folders, parted as search paths are, names one in which everybody may put
// files: scratch space and downloads. One that is made for this action alone has a name that is not known, and does not count.
func (r *shellRun) searchesCommonPlace(f flow.Field) bool {
	if len(f.Text) > lex.MaxText || !r.S.Spend(len(f.Text)/16) {
		return false
	}
	folders := strings.FieldsFunc(f.Text, func(c rune) bool { return c == ':' || c == ';' })
	workspace := r.S.Place(r.S.View.Workspace)
	for i, folder := range folders {
		if i >= maxModuleFolders || !r.S.Spend(2) {
			break
		}
		if folder[0] != '/' && folder[0] != '~' && folder[0] != '.' || strings.Contains(folder, "/tmp.XXXX") {
			continue // what belongs to the project, or has a name that was just made up
		}
		if p := r.S.Place(folder); p.Passing && !workspace.Passing || isDownloads(p.Path) {
			return true
		}
	}
	return false
}

// isDownloads reports whether a path lies where a browser leaves what pages hand out.
func isDownloads(path string) bool {
	return path == "~/Downloads" || strings.HasPrefix(path, "~/Downloads/") ||
		(strings.HasPrefix(path, "/home/") || strings.HasPrefix(path, "/Users/")) && strings.Contains(path+"/", "/Downloads/")
}

// putsPrograms reports whether what is put into a folder becomes programs that are found by their names.
func (r *shellRun) putsPrograms(folder string) bool {
	return folder != "" && r.S.Shadows(strings.TrimSuffix(folder, "/")+"/git")
}

// installs judges a builder that is asked to install what it built below a prefix of the user's: its programs land where their
// names are looked for, and which names those are is for the project to say. What comes from a registry is a package.
func (r *shellRun) installs(u *flow.Use, args []flow.Field, own []interlock.Impact) {
	asked := false
	for i := range args {
		asked = asked || args[i].Text == "install" || args[i].Text == "--install" || args[i].Text == "install-strip"
	}
	if !asked {
		return
	}
	for i := range own {
		if own[i].Kind == interlock.ImpactNetwork || own[i].Has(fact.TraitPackage) || own[i].Has(fact.TraitDryRun) {
			return
		}
	}
	before := ""
	for i := range args {
		name, value := before, args[i]
		if before = ""; strings.HasPrefix(args[i].Text, "--") && strings.IndexByte(args[i].Text, '=') < 0 {
			before = args[i].Text
			continue
		}
		if at := strings.IndexByte(args[i].Text, '='); at > 0 {
			name, value = args[i].Text[:at], cut(args[i], at+1)
		}
		if i > MaxBraces || !isPrefix(name) || !mayStray(&value) || !r.S.Spend(4) {
			continue
		}
		p := r.PlaceOf(value, true)
		if p.Reach != interlock.ReachHome {
			continue
		}
		for _, folder := range [...]string{p.Path, p.Path + "/bin"} {
			if r.putsPrograms(folder) {
				r.fillsPrograms(r.S.Place(folder), u.Via)
				break
			}
		}
	}
}

// isPrefix reports whether a flag or a variable of a builder says below which folder it installs.
func isPrefix(name string) bool {
	switch strings.ToLower(strings.TrimLeft(name, "-")) {
	case "prefix", "destdir", "root", "bindir", "install_dir", "installdir", "install_root", "install_prefix", "install_path",
		"exec_prefix", "install-dir", "install-root":
		return true
	}
	return false
}

// fillsPrograms records that programs of unknown names are put into a folder in which they are found.
func (r *shellRun) fillsPrograms(p know.Place, via string) {
	p.Traits = append(p.Traits[:len(p.Traits):len(p.Traits)], fact.TraitStartup)
	r.S.TouchPlace(p, interlock.Impact{Kind: interlock.ImpactWrite, Via: via, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitOverwrite}})
}
