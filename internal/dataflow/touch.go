package dataflow

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
)

// A touch is one thing that an action reads or writes. Its name begins with what sort of thing it is, so that no two sorts meet.
type touch struct {
	name string
	sure Certainty
	tree bool // and what is below it
}

// A touched is all that an action may have read and written.
type touched struct {
	reads, writes []touch
	// it may have read, or written, whatever lies in its workspace; and what it reads may lie anywhere
	readsAny, writesAny, anywhere bool
}

// The sorts of things.
const (
	onDisk   = "file:"
	onServer = "server:"
	ofTable  = "table:"
	aMessage = "message:"
)

// touches works out what an action may have read and written.
func touches(a *Action) (t touched) {
	if a.Passes() { // where the event beside it is not known, it may be any
		t.reads = add(nil, aMessage+a.message, Certain, false)
		if a.Tool == toolSend {
			t.reads, t.writes = nil, t.reads
		}
		return t
	}
	for n := range a.Impacts {
		t.impact(a, &a.Impacts[n])
	}
	if server := serverOf(a); server != "" {
		t.reads = append(t.reads, touch{name: onServer + server, sure: Possible})
		if !readsOnly(a) {
			t.writes = append(t.writes, touch{name: onServer + server, sure: Possible})
		}
	}
	switch {
	case a.Discarded:
		t.writes, t.writesAny = without(t.writes, onDisk), false
	case a.Watched:
		t.writes, t.writesAny = without(t.writes, onDisk), false
		fallthrough
	case len(a.Effects) > 0:
		for _, e := range a.Effects {
			if !e.Held {
				t.writes = append(t.writes, touch{name: onDisk + path.Join(a.Workspace, e.Path), sure: Certain})
			}
		}
	}
	return t
}

func without(list []touch, sort string) (rest []touch) {
	for _, t := range list {
		if !strings.HasPrefix(t.name, sort) {
			rest = append(rest, t)
		}
	}
	return rest
}

// impact adds one impact.
func (t *touched) impact(a *Action, i *interlock.Impact) {
	sure := Certain
	if i.Confidence != interlock.Parsed || i.Has(fact.TraitGlob) {
		sure = Possible
	}
	if i.Confidence == interlock.Unknown {
		t.readsAny, t.writesAny, t.anywhere = true, true, true
	}
	name, tree := nameOf(i)
	switch i.Kind {
	case interlock.ImpactRead:
		t.reads = add(t.reads, name, sure, tree)
	case interlock.ImpactExecute, interlock.ImpactSpawn:
		t.reads = add(t.reads, name, sure, tree)
		t.readsAny, t.writesAny = true, true
	case interlock.ImpactNetwork, interlock.ImpactMessage, interlock.ImpactSpend, interlock.ImpactPrivilege, interlock.ImpactConfigure,
		interlock.ImpactCredential, interlock.ImpactPersist:
		if i.Kind == interlock.ImpactNetwork && (i.Has(fact.TraitDownload) || !i.Has(fact.TraitUpload)) {
			t.reads = add(t.reads, name, sure, tree)
		}
		if i.Reversibility != interlock.Readonly && (i.Kind != interlock.ImpactNetwork || i.Has(fact.TraitUpload)) {
			t.writes = add(t.writes, name, sure, tree)
		}
	case interlock.ImpactWrite, interlock.ImpactDelete:
		if i.Has(fact.TraitDryRun) {
			return
		}
		t.writes = add(t.writes, name, sure, tree)
		switch {
		case i.Has(fact.TraitMoved): // where it went is another impact of the same action
			t.reads = add(t.reads, name, sure, true)
		case i.Kind == interlock.ImpactWrite && !i.Has(fact.TraitOverwrite): // what was there before lives on in it
			t.reads = add(t.reads, name, Possible, tree)
		}
	}
}

func add(list []touch, name string, sure Certainty, tree bool) []touch {
	if name == "" {
		return list
	}
	return append(list, touch{name, sure, tree})
}

// nameOf is what an impact's target is known by, and whether it covers what is below it too.
func nameOf(i *interlock.Impact) (name string, tree bool) {
	target := i.Target
	switch {
	case target == "":
		return "", false
	case strings.Contains(target, "://"):
		return address(target), false
	case place.NamesFile(i):
		tree = i.Has(fact.TraitRecursive) || i.Has(fact.TraitDownload) || i.Via == "tar" || i.Via == "unzip"
		return onDisk + path.Clean(strings.ReplaceAll(target, `\`, "/")), tree
	case target[0] == '/' || target[0] == '~' || target[0] == '.':
		if at := strings.IndexAny(target, "*?$["); at >= 0 {
			target = target[:at]
			target = target[:strings.LastIndexByte(target, '/')+1]
		}
		return onDisk + path.Clean("/"+strings.TrimPrefix(target, "~")), true
	case i.Has(fact.TraitDatabase) || strings.HasPrefix(i.Via, "sql"):
		return ofTable + strings.ToLower(target), false
	}
	return string(i.Kind) + ":" + target, false
}

// address is a URL as it is known again: without what is asked of it.
func address(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	scheme, rest, _ := strings.Cut(url, "://")
	host, where, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme+"://"+host) + "/" + strings.TrimSuffix(where, "/")
}

// serverOf names the server behind a tool, as far as the tool's name does. Two tools of one server may share what they keep.
func serverOf(a *Action) string {
	if a.Kind != interlock.KindTool {
		return ""
	}
	name := strings.TrimPrefix(a.Tool, "mcp__")
	for _, mark := range []string{"__", ".", "/"} {
		if server, _, cut := strings.Cut(name, mark); cut && server != "" {
			return server
		}
	}
	return name
}

// readsOnly reports whether nothing that an action does changes anything.
func readsOnly(a *Action) bool {
	for n := range a.Impacts {
		if a.Impacts[n].Reversibility != interlock.Readonly {
			return false
		}
	}
	return true
}

// covers says whether what one touch names may be, or hold, what another one names, and how sure that is.
func (t touch) covers(other touch) (sure Certainty, meets bool) {
	switch {
	case t.name == other.name:
		return weaker(t.sure, other.sure), true
	case !strings.HasPrefix(t.name, onDisk) && !strings.Contains(t.name, "://"):
		return "", false
	case below(other.name, t.name):
		if t.tree && strings.HasPrefix(t.name, onDisk) {
			return weaker(t.sure, other.sure), true
		}
		return Possible, true
	case below(t.name, other.name):
		if other.tree && strings.HasPrefix(t.name, onDisk) {
			return weaker(t.sure, other.sure), true
		}
		return Possible, true
	}
	return "", false
}

func below(name, above string) bool {
	return strings.HasPrefix(name, above) && (strings.HasSuffix(above, "/") || len(name) > len(above) && name[len(above)] == '/')
}
