package embedded

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"interlock"
	"interlock/internal/config"
)

// Views gathers views as [GatherView] does, for a process that gathers thousands a second: what can't change while it runs
// is gathered once, and a directory's links are read again only when the directory has changed. It is safe for concurrent
// use; the views it returns share slices and maps, which nobody changes.
type Views struct {
	base    interlock.View
	now     func() time.Time
	changed func(os.FileInfo) (time.Time, bool) // when a directory last changed; false: nobody knows

	mu          sync.Mutex
	directories map[string]directory
}

// A directory is what is remembered of one: its links, and whether it is a repository, as of the change that was its last when
// that was read. Where a link leads may change behind several links without this; it could as well change between the decision
// and the act.
type directory struct {
	changed    time.Time
	links      map[string]string
	repository bool
}

const (
	// maxDirectories bounds what is remembered. An agent that names more pays for it with time, not Interlock with memory.
	maxDirectories = 256
	// settled is how old a change must be for a directory's time stamp to tell the next one apart: file systems count in
	// steps of up to two seconds.
	settled = 3 * time.Second
	// finelySettled is the same where the stamp shows that its file system counts finely: then a step is the kernel's, or the
	// file server's, of some milliseconds.
	finelySettled = 100 * time.Millisecond
)

// settling is how old this change must be. A stamp with a fraction of a millisecond is of a file system that counts finely.
func settling(changed time.Time) time.Duration {
	if changed.Nanosecond()%int(time.Millisecond) != 0 {
		return finelySettled
	}
	return settled
}

// NewViews gathers what can't change while the process runs.
func NewViews(c config.Config, now func() time.Time) *Views {
	return &Views{base: GatherView(c, ""), now: now, changed: changeTime, directories: map[string]directory{}}
}

// Gather returns the view for an action proposed in dir, which may be empty.
func (v *Views) Gather(dir string) interlock.View {
	view := v.base
	if dir == "" {
		return view
	}
	clean := filepath.Clean(dir)
	here := v.directory(clean)
	view.Links = here.links
	view.Workspace = workspaceAbove(clean, here.repository, view.Home)
	if view.Workspace != "" && view.Workspace != clean {
		view.Links = merged(view.Links, v.directory(view.Workspace).links)
	}
	return view
}

// directory returns what is directly in a directory. One that was changed a moment ago is read every time, because a second
// change might leave the same time stamp.
func (v *Views) directory(dir string) directory {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return directory{}
	}
	changed, dated := v.changed(info)
	v.mu.Lock()
	known, ok := v.directories[dir]
	v.mu.Unlock()
	if ok && dated && known.changed.Equal(changed) {
		return known
	}
	found := directory{changed: changed, links: links(dir), repository: isRepository(dir)}
	if !dated || v.now().Sub(changed) < settling(changed) {
		return found
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.directories) >= maxDirectories {
		clear(v.directories)
	}
	v.directories[dir] = found
	return found
}

// merged is the union of two sets of links; neither is changed.
func merged(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	union := make(map[string]string, len(a)+len(b))
	for _, links := range []map[string]string{b, a} {
		for path, target := range links {
			union[path] = target
		}
	}
	return union
}
