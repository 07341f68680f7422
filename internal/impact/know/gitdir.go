package know

import "strings"

// besideGit reports whether a path lies in a folder inside .git that is none of git's own: another program keeps something
// of its own there, which is no history.
func besideGit(path string) bool {
	at := strings.LastIndex("/"+path, "/.git/")
	if at < 0 {
		return false
	}
	name, below, more := strings.Cut(("/" + path)[at+len("/.git/"):], "/")
	if !more || below == "" || name == "" || IsGlob(name) || strings.ContainsAny(name, "$`{\\") {
		return false
	}
	switch strings.ToLower(name) {
	case ".", "..", "objects", "refs", "reftable", "logs", "hooks", "info", "modules", "worktrees", "lfs", "annex",
		"svn", "branches",
		"remotes", "sequencer", "rr-cache", "common", "filter-repo",
		"refs-original", "subtree-cache", "bisect", "fsmonitor--daemon", "gitbutler", "sl", "jj":
		return false
	}
	return !strings.Contains(name, "backup") && !strings.HasPrefix(name, "rebase")
}
