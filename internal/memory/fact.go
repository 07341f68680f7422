package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// The stores. What waits is answered to nobody.
const (
	Episodic = "episodic" // what happened, for a while
	Semantic = "semantic" // stable facts, which the council has approved
	Waiting  = "waiting"  // what is to be one, until the council has answered
)

// The bounds of a fact.
const (
	MaxValue    = 8 << 10 // bytes
	maxVersions = 4       // that are kept of one fact, so that one which turns out bad is taken back
	MaxDerives  = 32      // sources that one version derives from
	MaxAbout    = 8       // people that one version is about
)

// What may be wrong with where a value comes from.
const (
	TaintOrdered  = "ordered"  // something in it was named only by a text that gives orders to its reader
	TaintReturned = "returned" // something in it was named only by what a call returned
	TaintSource   = "source"   // the agent says that it has it from elsewhere than its user
	TaintUnheard  = "unheard"  // nobody has heard of what the run was told
	TaintDerived  = "derived"  // a fact that it is made of is tainted
)

// A Version is one value of a fact, and where it comes from.
type Version struct {
	ID        string    `json:"id"` // mem_ and 24 digits
	Value     string    `json:"value"`
	Agent     string    `json:"agent"` // who wrote it
	Principal string    `json:"principal,omitempty"`
	Run       string    `json:"run,omitempty"`
	Source    string    `json:"source,omitempty"`  // where the agent says that it has it from
	Derives   []string  `json:"derives,omitempty"` // every source that it rests on, those of the facts it is made of included
	Taint     []string  `json:"taint,omitempty"`
	Personal  []string  `json:"personal,omitempty"` // kinds of personal data that are in it with its subject's consent
	Tier      string    `json:"tier,omitempty"`     // the most sensitive of them
	Subject   string    `json:"subject,omitempty"`  // who consented
	About     []string  `json:"about,omitempty"`    // every person that it is about, also those of the facts it is made of
	Sealed    []byte    `json:"sealed,omitempty"`   // the value, for the subject's key, where personal data is in it; it is nowhere else
	At        time.Time `json:"at"`
	Until     time.Time `json:"until,omitzero"`    // the zero time: no end
	Request   string    `json:"request,omitempty"` // the council's, of a stable fact or one that waits
}

// A Fact is what is kept under one key.
type Fact struct {
	Store    string    `json:"store"`
	Holder   string    `json:"holder,omitempty"` // the agent whose it is; empty: shared
	Key      string    `json:"key"`
	Number   int       `json:"number"`   // how often it was written
	Versions []Version `json:"versions"` // the newest last
}

// Place names a fact among all.
func Place(store, holder, key string) string { return store + "\x00" + holder + "\x00" + key }

// Place names the fact among all.
func (f Fact) Place() string { return Place(f.Store, f.Holder, f.Key) }

// With is a fact with one more version, which is the one that counts: the last validated write wins. Where there are too many, the oldest
// goes of which its author wrote a later one: who writes often pushes out nobody else's.
func (f Fact) With(v Version) Fact {
	f.Number++
	f.Versions = append(slices.Clone(f.Versions), v)
	for len(f.Versions) > maxVersions {
		again := func(n int) bool {
			return slices.ContainsFunc(f.Versions[n+1:], func(later Version) bool { return later.Agent == f.Versions[n].Agent })
		}
		out := 0
		for out < len(f.Versions) && !again(out) {
			out++
		}
		f.Versions = slices.Delete(f.Versions, out%len(f.Versions), out%len(f.Versions)+1)
	}
	return f
}

// Newest is the version that was written last; the zero value where there is none.
func (f Fact) Newest() (v Version) {
	if n := len(f.Versions); n > 0 {
		v = f.Versions[n-1]
	}
	return v
}

// Over is when no version of a fact can be answered any more; the zero time: never.
func (f Fact) Over() (over time.Time) {
	for _, v := range f.Versions {
		if v.Until.IsZero() {
			return v.Until
		}
		if v.Until.After(over) {
			over = v.Until
		}
	}
	return over
}

// At is the version that is answered at a time: the newest that is not hidden, unless its time is over. One that is hidden was never
// written, as far as anybody can tell; one that has expired was, and nothing older comes back for it.
func (f Fact) At(now time.Time, hidden func(Version) bool) (v Version, there bool) {
	for n := len(f.Versions) - 1; n >= 0; n-- {
		if v = f.Versions[n]; hidden(v) {
			continue
		}
		return v, v.Until.IsZero() || now.Before(v.Until)
	}
	return Version{}, false
}

// A Cut is that everything which derives from a source and was written before a time is taken back. Without a time it is hidden,
// whenever it was written.
type Cut struct {
	Source string
	Before time.Time
}

// Hidden reports whether a version derives from anything that is cut.
func Hidden(v Version, cuts []Cut) bool {
	return slices.ContainsFunc(cuts, func(c Cut) bool {
		return slices.Contains(v.Derives, c.Source) && (c.Before.IsZero() || !v.At.After(c.Before))
	})
}

// Derive fills in what a version rests on: who wrote it, in which run, where it is said to be from, and all that the versions rest on
// which it is made of; and whom it is about. It fails where that is more than can be kept: a fact that forgets where it is from can't be
// taken back.
func (v *Version) Derive(of []Version) error {
	sources := []string{fromAgent + v.Agent}
	if v.Run != "" {
		sources = append(sources, fromRun+v.Run)
	}
	if v.Source != "" {
		sources = append(sources, fromSource+v.Source)
	}
	if v.Subject != "" {
		v.About = append(v.About, v.Subject)
	}
	for _, from := range of {
		sources = append(sources, from.Derives...)
		v.About = append(v.About, from.About...)
		if len(from.Taint) > 0 {
			v.Taint = append(v.Taint, TaintDerived)
		}
	}
	v.Taint = sorted(v.Taint)
	if v.About = sorted(v.About); len(v.About) > MaxAbout {
		return interlock.Errorf(interlock.CodeLimited, "/from", "the fact would be about more than %d people", MaxAbout)
	}
	if v.Derives = sorted(sources); len(v.Derives) > MaxDerives {
		return interlock.Errorf(interlock.CodeLimited, "/from", "the fact would rest on more than %d sources", MaxDerives)
	}
	return nil
}

func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// Matches reports whether a fact holds every word of a query, in its key or its value and in any case.
func Matches(query, key, value string) bool {
	in := strings.ToLower(key + "\n" + value)
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(in, word) {
			return false
		}
	}
	return true
}

// Canonical is a value as the hash of all stable facts has it: one that is sealed as it is sealed, so that nobody opens it for that.
func (v Version) Canonical() string {
	if len(v.Sealed) == 0 {
		return v.Value
	}
	sum := sha256.Sum256(v.Sealed)
	return "sealed:" + hex.EncodeToString(sum[:])
}

// A Stable is a stable fact as the hash of all of them has it.
type Stable struct {
	Key   string
	Value string
	At    time.Time
}

// Hash is the sem_snapshot_hash: SHA-256 over the canonical JSON of the list of all stable facts, each its key, its value and when it
// was written, in the order of their keys.
func Hash(facts []Stable) (string, error) {
	facts = slices.SortedFunc(slices.Values(facts), func(a, b Stable) int { return strings.Compare(a.Key, b.Key) })
	rows := make([][3]string, len(facts))
	for n, f := range facts {
		rows[n] = [3]string{f.Key, f.Value, f.At.UTC().Format(time.RFC3339Nano)}
	}
	text, err := strictjson.Marshal(rows)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
