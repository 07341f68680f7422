package embedded

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ruleset"
)

const (
	// lookEvery is how often a busy process looks at the names and times of an operator's rules: a look costs some microseconds.
	lookEvery = 2 * time.Millisecond
	// settleAfter is how long after they could not be read, or were read with a time yet to come, rules are read once more whatever
	// their times say.
	settleAfter = 2 * time.Second
)

// ownRules are an operator's rules as they lie on the disk, for a process that lasts. It is safe for concurrent use.
type ownRules struct {
	settings config.Config
	began    time.Time
	looked   atomic.Int64 // when somebody last looked, since it began

	newest  atomic.Pointer[reading]
	guard   sync.Mutex        // of reading again
	last    map[string][]byte // the documents of the newest reading; nil if there is none, or they could not be read
	in      map[string][]byte // of the newest that could be used
	why     string            // the newest could not be used; empty if it could
	counted int64
}

// A reading is what was found when the rules were last read.
type reading struct {
	admission.Renewal
	stamps []stamp
	again  time.Duration // when they are read once more, since the process began; 0: when a stamp has changed
	fresh  bool          // written so lately that a further write could leave the same stamps: they are read at each look
}

// A stamp is what a look at a file or directory shows of it without reading it.
type stamp struct {
	path string
	info fs.FileInfo // nil: it is not there
}

func (s stamp) same() bool {
	now, err := os.Stat(s.path)
	if err != nil || s.info == nil {
		return err != nil && s.info == nil
	}
	return now.Size() == s.info.Size() && now.ModTime().Equal(s.info.ModTime()) && now.Mode() == s.info.Mode() &&
		os.SameFile(now, s.info)
}

// newOwnRules notes what lies where the rules are read from. The documents themselves are what was read after it: what changes in
// between is seen at the next look.
func newOwnRules(c config.Config) *ownRules {
	r := &ownRules{settings: c, began: time.Now()}
	r.newest.Store(&reading{stamps: stampsOf(RulesDirectory(c)), fresh: true})
	return r
}

// begin says which documents the process begins with, and what they are. Nobody asks before that.
func (r *ownRules) begin(documents map[string][]byte, set *ruleset.Ruleset) {
	if documents == nil {
		documents = map[string][]byte{}
	}
	r.last, r.in = documents, documents
	first := *r.newest.Load()
	first.Renewal = admission.Renewal{Rules: set, Own: documents}
	r.newest.Store(&first)
}

// Renewal is what the rules are now.
func (r *ownRules) Renewal() admission.Renewal {
	have := r.newest.Load()
	since := time.Since(r.began)
	if last := r.looked.Load(); since-time.Duration(last) < lookEvery || !r.looked.CompareAndSwap(last, int64(since)) {
		return have.Renewal
	}
	if !have.moved(since) {
		return have.Renewal
	}
	r.guard.Lock()
	defer r.guard.Unlock()
	if have = r.newest.Load(); have.moved(since) {
		have = r.read(have)
		r.newest.Store(have)
	}
	return have.Renewal
}

// moved reports whether the rules have to be read again.
func (r *reading) moved(since time.Duration) bool {
	if r.fresh || r.again != 0 && since >= r.again {
		return true
	}
	for n := range r.stamps {
		if !r.stamps[n].same() {
			return true
		}
	}
	return false
}

// read reads the rules. What says the same as before is no renewal, however it came to be written again.
func (r *ownRules) read(before *reading) *reading {
	dir := RulesDirectory(r.settings)
	next := &reading{Renewal: before.Renewal, stamps: stampsOf(dir)}
	now := time.Now()
	for _, s := range next.stamps {
		if s.info == nil {
			continue
		}
		switch age := now.Sub(s.info.ModTime()); {
		case age < 0:
			next.again = now.Sub(r.began) + settleAfter
		case age < settling(s.info.ModTime()):
			next.fresh = true
		}
	}
	documents, err := r.documents(dir)
	if err == nil && r.last != nil && maps.EqualFunc(documents, r.last, bytes.Equal) {
		return next
	}
	r.last = documents // nil where they could not be read
	var set *ruleset.Ruleset
	if err == nil {
		set, err = r.load(documents)
	}
	if err != nil {
		next.again = now.Sub(r.began) + settleAfter
		if why := err.Error(); why != r.why {
			r.why, r.counted = why, r.counted+1
			next.Renewal = admission.Renewal{Number: r.counted, Err: err}
		}
		return next
	}
	r.in, r.why, r.counted = documents, "", r.counted+1
	next.Renewal = admission.Renewal{Number: r.counted, Rules: set, Own: documents}
	return next
}

// documents reads the rules. A directory that was there and is gone is an error, as one is that was named and is not there: rules
// that are not there object to nothing.
func (r *ownRules) documents(dir string) (map[string][]byte, error) {
	if r.settings.Rules == "" && len(r.in) == 0 && !there(dir) && !there(dir+promoted) {
		return map[string][]byte{}, nil
	}
	return UserRules(dir)
}

// load makes a ruleset of an operator's rules.
func (r *ownRules) load(documents map[string][]byte) (set *ruleset.Ruleset, err error) {
	defer func() {
		if p := recover(); p != nil { // rules that nobody has tried yet
			set, err = nil, fmt.Errorf("reading the rules: panic: %v", p)
		}
	}()
	if set, err = candidate(documents); err != nil {
		return nil, err
	}
	return set, knownProfile(r.settings, set)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stampsOf are the stamps of everything that rules are read from: the directory, the one that may be taking its place, and what is
// in it. What can't be looked at has none, and is read, which says why not.
func stampsOf(dir string) []stamp {
	stamps := []stamp{stampOf(dir), stampOf(dir + promoted)}
	root, err := filepath.EvalSymlinks(dir) // a walk follows no links
	if err != nil {
		return stamps
	}
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != root && (entry.IsDir() || filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml") {
			stamps = append(stamps, stampOf(path))
		}
		return nil
	})
	return stamps
}

func stampOf(path string) stamp {
	info, _ := os.Stat(path)
	return stamp{path, info}
}
