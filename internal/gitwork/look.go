package gitwork

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock"
)

// Bounds of one look, for all paths of an action.
const (
	maxPaths   = 32
	maxIndex   = 24 << 20 // bytes of an index
	maxEntries = 20_000   // of directories
	maxHashed  = 16 << 20 // bytes of files compared with what git stored
	maxDepth   = 64
)

// Limit is how long a look on the way to a decision may take.
const Limit = 150 * time.Millisecond

// A looker is one look: the repositories it has opened and what is left of its bounds.
type looker struct {
	repositories map[string]*repository
	entries      int
	hashed       int64
	pattern      string // of the names that are meant below a path; empty means all
	until        time.Time
}

// Look returns what is known of the work at each of the paths. A path that lies in no repository, or about which nothing sure can
// be said within the bounds, is left out.
func Look(paths []string) map[string]interlock.Work { return LookFor(Limit, paths) }

// LookFor is [Look] that ends after a time of the caller's.
func LookFor(limit time.Duration, paths []string) map[string]interlock.Work {
	l := &looker{repositories: map[string]*repository{}, entries: maxEntries, hashed: maxHashed, until: time.Now().Add(limit)}
	var out map[string]interlock.Work
	for n, path := range paths {
		if n >= maxPaths || time.Now().After(l.until) {
			break
		}
		if !filepath.IsAbs(path) || elsewhere(path) {
			continue
		}
		work, ok := l.look(filepath.Clean(path))
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]interlock.Work{}
		}
		out[path] = work
	}
	return out
}

// meant reports whether a file is one of those a pattern names.
func (l *looker) meant(rel string) bool {
	ok, _ := filepath.Match(l.pattern, rel[strings.LastIndexByte(rel, '/')+1:])
	return ok || l.pattern == ""
}

// look judges one path. A pattern in its last part means every file of such a name there and below.
func (l *looker) look(path string) (work interlock.Work, ok bool) {
	dir, pattern := filepath.Split(path)
	if l.pattern = ""; strings.ContainsAny(pattern, "*?[") {
		if _, err := filepath.Match(pattern, ""); err != nil || strings.ContainsAny(dir, "*?[") {
			return work, false
		}
		path, l.pattern = filepath.Clean(dir), pattern
	}
	repo := l.repositoryOf(path)
	if repo == nil {
		return work, false
	}
	rel, err := filepath.Rel(repo.root, path)
	rel = filepath.ToSlash(rel)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || rel == ".git" || strings.HasPrefix(rel, ".git/") {
		return work, false
	}
	work.Committed = repo.committed
	work.Root = rel == "."
	if repo.leadsAway(rel, l.pattern != "") { // what lies behind the link is none of this repository's files
		work.Untracked = true
		return work, true
	}
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		work.Absent = true
		return work, true
	case err != nil:
		return work, false
	}
	if work.Changed, ok = l.changed(repo, rel); !ok {
		return work, false
	}
	return work, l.strangers(repo, rel, info, &work)
}

// leadsAway reports whether a directory on the way to a path below the root, or the path itself where names in it are meant, is
// a link.
func (r *repository) leadsAway(rel string, in bool) bool {
	for at, c := range rel {
		if c == '/' && isLink(filepath.Join(r.root, filepath.FromSlash(rel[:at]))) {
			return true
		}
	}
	return in && rel != "." && isLink(filepath.Join(r.root, filepath.FromSlash(rel)))
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// elsewhere reports whether a path names another machine, which merely looking at it would have this one greet.
func elsewhere(path string) bool {
	return strings.HasPrefix(filepath.ToSlash(filepath.VolumeName(path)), "//")
}

// repositoryOf opens the repository a path lies in, once; nil if there is none that can be read.
func (l *looker) repositoryOf(path string) *repository {
	dir := path
	for range maxDepth {
		if known, ok := l.repositories[dir]; ok {
			return known
		}
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			repo := open(dir, info.IsDir())
			l.repositories[dir] = repo
			return repo
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return nil
}

// changed reports whether a tracked file at or below a path is not as the index has it. One that is missing is no loss.
func (l *looker) changed(repo *repository, rel string) (changed, ok bool) {
	for _, e := range repo.below(rel) {
		if time.Now().After(l.until) {
			return false, false
		}
		if !l.meant(e.path) || e.mode&0o170000 == 0o160000 { // a submodule: a repository of its own
			continue
		}
		info, err := os.Lstat(filepath.Join(repo.root, filepath.FromSlash(e.path)))
		if err != nil {
			continue
		}
		same, sure := l.same(repo, e, info)
		if !sure {
			return false, false
		}
		if !same {
			return true, true
		}
	}
	return false, true
}

// same compares a file with its entry: by size and time first and, where these leave a doubt, by what it holds.
func (l *looker) same(repo *repository, e *entry, info os.FileInfo) (same, sure bool) {
	link := info.Mode()&os.ModeSymlink != 0
	if link != (e.mode&0o170000 == 0o120000) || !link && !info.Mode().IsRegular() {
		return false, true
	}
	if e.size != 0 && uint32(info.Size()) != e.size {
		return false, true
	}
	at := info.ModTime()
	settled := at.Before(repo.written) && (e.size != 0 || info.Size() == 0)
	if settled && uint32(at.Unix()) == e.seconds && (e.nanos == 0 || uint32(at.Nanosecond()) == e.nanos) {
		return true, true
	}
	if l.hashed -= info.Size() + 1; l.hashed < 0 {
		return false, false
	}
	sum, err := blob(filepath.Join(repo.root, filepath.FromSlash(e.path)), link, info.Size())
	return err == nil && sum == e.sum, true
}
