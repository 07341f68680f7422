// Package bubblewrap finds bubblewrap, which makes the sandboxes. It is looked for on the search path, but only in directories
// of the system: a search path may be an agent's, and lead to a program of that name which makes no walls.
package bubblewrap

import (
	"os"
	"path/filepath"
	"slices"
)

// Program is the name bubblewrap is looked for by.
const Program = "bwrap"

// directories are those of distributions, NixOS and Guix included, that only administrators write to.
func directories() []string {
	return []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin",
		"/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin", "/run/current-system/profile/bin"}
}

// Find returns the path of the first bubblewrap in a directory of the system that a search path names.
func Find(searched string) (path string, found bool) {
	return find(searched, directories())
}

func find(searched string, among []string) (path string, found bool) {
	for _, dir := range filepath.SplitList(searched) {
		path := filepath.Join(dir, Program)
		if !slices.Contains(among, filepath.Dir(path)) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
