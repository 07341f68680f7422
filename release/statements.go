package main

import (
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// inventory writes what other people's modules are in the programs, in CycloneDX's form, as Go recorded it in them.
func (r *release) inventory(string) error {
	modules, goVersion, err := r.modules()
	if err != nil {
		return err
	}
	own := "pkg:golang/" + r.module + "@v" + r.version
	type component map[string]any
	components := []component{{"type": "library", "bom-ref": "pkg:golang/std@" + goVersion, "name": "std", "version": goVersion,
		"purl": "pkg:golang/std@" + goVersion}}
	needs := []string{"pkg:golang/std@" + goVersion}
	for _, m := range modules {
		ref := "pkg:golang/" + m[0] + "@" + m[1]
		needs = append(needs, ref)
		components = append(components, component{"type": "library", "bom-ref": ref, "name": m[0], "version": m[1], "purl": ref,
			"properties": []component{{"name": "go:sum", "value": m[2]}}})
	}
	return r.statement("interlock_"+r.version+"_sbom.cdx.json", map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.time.Format("2006-01-02T15:04:05Z"),
			"component": component{"type": "application", "bom-ref": own, "name": "interlock", "version": r.version, "purl": own,
				"licenses": []component{{"license": component{"id": "Apache-2.0"}}}},
		},
		"components":   components,
		"dependencies": []component{{"ref": own, "dependsOn": needs}},
	})
}

// modules are what is in any of the programs, by name: path, version and sum.
func (r *release) modules() (modules [][3]string, goVersion string, err error) {
	for _, b := range r.built {
		for _, name := range programs() {
			info, err := buildinfo.ReadFile(filepath.Join(b.dir, b.exe(name)))
			if err != nil {
				return nil, "", err
			}
			goVersion = info.GoVersion
			for _, d := range info.Deps {
				if d.Replace != nil {
					d = d.Replace
				}
				if m := [3]string{d.Path, d.Version, d.Sum}; !slices.Contains(modules, m) {
					modules = append(modules, m)
				}
			}
		}
	}
	slices.SortFunc(modules, func(a, b [3]string) int { return strings.Compare(a[0], b[0]) })
	return modules, goVersion, nil
}

// provenance writes what everything was made of and how, in the form of SLSA. It is not signed: its publisher does that.
func (r *release) provenance(string) error {
	type object map[string]any
	var subjects []object
	err := filepath.WalkDir(r.out, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == sumsFile {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		if err != nil {
			return err
		}
		sum, err := r.sum(filepath.ToSlash(name))
		subjects = append(subjects, object{"name": filepath.ToSlash(name), "digest": object{"sha256": sum}})
		return err
	})
	if err != nil {
		return err
	}
	modules, goVersion, err := r.modules()
	if err != nil {
		return err
	}
	from := []object{{"name": r.module, "digest": object{"gitCommit": r.commit}}}
	if r.commit == "" || strings.HasSuffix(r.commit, "+changed") {
		from = []object{{"name": r.module, "annotations": object{"source": "files without a commit of their own"}}}
	}
	for _, m := range modules {
		from = append(from, object{"uri": "pkg:golang/" + m[0] + "@" + m[1], "annotations": object{"go:sum": m[2]}})
	}
	return r.statement("interlock_"+r.version+"_provenance.json", object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType":            r.origin() + "/release",
				"externalParameters":   object{"version": r.version, "module": r.module, "systems": r.systemNames()},
				"internalParameters":   object{"go": goVersion, "flags": buildFlags(), "cgo": false},
				"resolvedDependencies": from,
			},
			"runDetails": object{"builder": object{"id": "make release"}},
		},
	})
}

func (r *release) systemNames() []string {
	var names []string
	for _, s := range r.systems {
		names = append(names, s.String())
	}
	return names
}

// statement writes JSON that is read by people as well.
func (r *release) statement(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(r.out, name), append(text, '\n'), 0o644)
}
