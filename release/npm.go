package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// npmName is the package that people name: `npx interlock`. Its programs come in a package of their own for each system, of
// which npm installs the one that fits.
const npmName = "interlock"

// nodeName is what Node calls a system.
func nodeName(s system) (goos, arch string) {
	goos, arch = s.os, s.arch
	if goos == "windows" {
		goos = "win32"
	}
	if arch == "amd64" {
		arch = "x64"
	}
	return goos, arch
}

// npm packs the packages for npm, as `npm pack` would.
func (r *release) npm(work string) error {
	about := func(more map[string]any) map[string]any {
		all := map[string]any{"version": r.version, "description": summary, "license": "Apache-2.0"}
		maps.Copy(all, more)
		if home := r.homepage(); home != "" {
			all["homepage"] = home
			all["repository"] = map[string]any{"type": "git", "url": "git+" + home + ".git"}
		}
		return all
	}
	fits := map[string]string{}
	for _, b := range r.built {
		goos, arch := nodeName(b.system)
		name := npmName + "-" + goos + "-" + arch
		fits[name] = r.version
		files, err := r.contents(b, work)
		if err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(f file) bool { return f.mode != 0o755 && f.name != "LICENSE" && f.name != "NOTICE" })
		for i := range files {
			if files[i].mode == 0o755 {
				files[i].name = "bin/" + files[i].name
			}
		}
		if err := r.packed(name, about(map[string]any{"name": name, "os": []string{goos}, "cpu": []string{arch},
			"files": []string{"bin", "LICENSE", "NOTICE"}}), files); err != nil {
			return err
		}
	}
	var files []file
	for _, name := range []string{"README.md", "LICENSE", "NOTICE", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return err
		}
		files = append(files, file{name, data, 0o644})
	}
	launcher, err := os.ReadFile(filepath.Join(r.source, "release", "files", "launcher.js"))
	if err != nil {
		return err
	}
	files = append(files, file{"bin/interlock.js", launcher, 0o755})
	return r.packed(npmName, about(map[string]any{"name": npmName, "bin": map[string]string{"interlock": "bin/interlock.js"},
		"optionalDependencies": fits, "engines": map[string]string{"node": ">=18"}, "files": []string{"bin", "CHANGELOG.md", "NOTICE"},
		"keywords": []string{"ai", "agent", "safety", "hook", "mcp"}}), files)
}

// packed writes one package.
func (r *release) packed(name string, about map[string]any, files []file) error {
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, file{"package.json", append(text, '\n'), 0o644})
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	data, err := tarred(files, r.time)
	if err != nil {
		return err
	}
	return write(filepath.Join(r.out, "npm", name+"-"+r.version+".tgz"), data, 0o644)
}
