package dataflow

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"interlock"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// a log of actions, one a minute, each of which ended ten seconds later.
type day struct {
	Log
	n int
}

func (d *day) did(name, agent, run string, impacts ...interlock.Impact) *Action {
	at := noon.Add(time.Duration(d.n) * time.Minute)
	a := &Action{Event: name, Index: int64(d.n), At: at, Ended: at.Add(10 * time.Second), Agent: agent, Run: run, Kind: interlock.KindShell,
		Workspace: "/w", Impacts: impacts, Status: interlock.OutcomeSuccess, answered: true, contexts: []Context{{agent, run}}}
	d.n++
	d.put(a)
	return a
}

// gave is work that one run gives another.
func (d *day) gave(name, agent, run, to, other string, what Giving) {
	a := d.did(name, agent, run)
	a.Gave, a.Giving = Context{to, other}, what
}

func is(kind interlock.ImpactKind, target string, traits ...string) interlock.Impact {
	i := interlock.Impact{Kind: kind, Target: target, Confidence: interlock.Parsed, Reversibility: interlock.Reversible, Traits: traits}
	if kind == interlock.ImpactRead {
		i.Reversibility = interlock.Readonly
	}
	return i
}

func reads(target string, traits ...string) interlock.Impact {
	return is(interlock.ImpactRead, target, traits...)
}

func writes(target string) interlock.Impact { return is(interlock.ImpactWrite, target, "overwrite") }

// found is what is downstream, each with how sure that is.
func (d *day) found(seed Seed) (list []string) {
	for _, r := range d.Downstream(seed) {
		list = append(list, r.Event+" "+string(r.Sure))
	}
	return list
}

// TestFlow: what was read after it was written is downstream, and so is what that led to; what was read before, elsewhere or from
// something else is not.
func TestFlow(t *testing.T) {
	for name, test := range map[string]struct {
		day  func(d *day)
		want []string
	}{
		"a file, and the chain behind it": {func(d *day) {
			d.did("before", "c", "0", reads("/w/facts"))
			d.did("bad", "a", "1", writes("/w/facts"))
			d.did("other", "d", "4", reads("/w/other"), writes("/w/else"))
			d.did("b", "b", "2", reads("/w/facts"), writes("/w/report"))
			d.did("c", "c", "3", reads("/w/report"))
		}, []string{"bad certain", "b certain", "c certain"}},
		"what its run did afterwards": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/facts"))
			d.did("earlier", "b", "2", writes("/w/x"))
			d.did("b", "b", "2", reads("/w/facts"))
			d.did("later", "b", "2", is(interlock.ImpactMessage, "x@example.com"))
			d.did("another run", "b", "3", is(interlock.ImpactMessage, "y@example.com"))
		}, []string{"bad certain", "b certain", "later possible"}},
		"a tree and a file in it": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/lib/deep/f"))
			d.did("grep", "b", "2", reads("/w/lib", "recursive"))
			d.did("ls", "c", "3", reads("/w/lib"))
			d.did("twin", "d", "4", reads("/w/library", "recursive"))
			d.did("glob", "e", "5", reads("/w/lib/*/f", "glob"))
		}, []string{"bad certain", "grep certain", "ls possible", "glob possible"}},
		"an address": {func(d *day) {
			d.did("bad", "a", "1", is(interlock.ImpactNetwork, "https://API.example.com/v1/facts?x=1", "upload"))
			d.did("same", "b", "2", is(interlock.ImpactNetwork, "https://api.example.com/v1/facts", "download"))
			d.did("item", "c", "3", is(interlock.ImpactNetwork, "https://api.example.com/v1/facts/1", "download"))
			d.did("twin", "d", "4", is(interlock.ImpactNetwork, "https://api.example.com/v1/factsheet", "download"))
		}, []string{"bad certain", "same certain", "item possible"}},
		"a table": {func(d *day) {
			row := func(k interlock.ImpactKind, table string) interlock.Impact {
				i := is(k, table)
				i.Via = "sql"
				return i
			}
			d.did("bad", "a", "1", row(interlock.ImpactWrite, "Facts"))
			d.did("same", "b", "2", row(interlock.ImpactRead, "facts"))
			d.did("twin", "c", "3", row(interlock.ImpactRead, "facts_old"))
		}, []string{"bad certain", "same certain"}},
		"what runs unseen": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/facts"))
			d.did("program", "b", "2", is(interlock.ImpactExecute, "make"))
			d.did("elsewhere", "c", "3", is(interlock.ImpactExecute, "make")).Workspace = "/v"
			d.did("made", "d", "4", reads("/w/out"))
		}, []string{"bad certain", "program possible", "made possible"}},
		"what nobody understood": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/facts"))
			odd := is(interlock.ImpactExecute, "")
			odd.Confidence = interlock.Unknown
			d.did("odd", "b", "2", odd).Workspace = "/v"
		}, []string{"bad certain", "odd possible"}},
		"both at once": {func(d *day) {
			d.did("running", "b", "2", reads("/w/facts")).Ended = noon.Add(time.Hour)
			d.did("open", "c", "3", reads("/w/facts")).Ended = time.Time{}
			d.did("over", "d", "4", reads("/w/facts"))
			d.did("bad", "a", "1", writes("/w/facts"))
		}, []string{"running possible", "open possible", "bad certain"}},
		"work and its result": {func(d *day) {
			d.did("bad", "a", "1", reads("/w/page"))
			d.gave("given", "a", "1", "b", "2", GivingWork)
			d.did("b", "b", "2", writes("/w/x"))
			d.gave("back", "b", "2", "a", "0", GivingResult)
			d.did("after", "a", "0", writes("/w/y"))
			d.did("twin", "b", "9", writes("/w/z"))
		}, []string{"bad certain", "given possible", "b possible", "back possible", "after possible"}},
		"what an agent says itself": {func(d *day) {
			d.did("bad", "a", "1")
			d.did("b", "b", "2").Uses = []string{"bad"}
			d.did("c", "c", "3").Uses = []string{"good"}
		}, []string{"bad certain", "b certain"}},
		"a value that came from it": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/facts"))
			d.did("b", "b", "2", reads("/w/facts")).Tool = "Read"
			d.did("c", "b", "2").Source = "Read"
			d.did("d", "b", "2").Source = "Fetch"
		}, []string{"bad certain", "b certain", "c certain", "d possible"}},
		"a message": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/x")).Tool = toolSend
			d.passed("a", "sent", "msg_1")
			d.did("other", "e", "5").Tool = toolSend
			d.passed("e", "sent", "msg_2")
			d.did("b", "b", "2").Tool = toolReceive
			d.passed("b", "received", "msg_1")
			d.did("c", "b", "2", writes("/w/y"))
			d.did("twin", "c", "3").Tool = toolReceive
			d.passed("c", "received", "msg_2")
			d.passed("c", "acknowledged", "msg_1")
		}, []string{"bad certain", "b certain", "c possible"}},
		"a server's tools": {func(d *day) {
			d.did("bad", "a", "1", is(interlock.ImpactWrite, "")).Kind, d.actions[0].Tool = interlock.KindTool, "mcp__memory__create"
			d.did("same", "b", "2", reads("")).Kind, d.actions[1].Tool = interlock.KindTool, "mcp__memory__read"
			d.did("twin", "c", "3", reads("")).Kind, d.actions[2].Tool = interlock.KindTool, "mcp__bank__read"
		}, []string{"bad certain", "same possible"}},
		"a copy that was thrown away": {func(d *day) {
			d.did("bad", "a", "1", writes("/w/facts")).Discarded = true
			d.did("b", "b", "2", reads("/w/facts"))
		}, []string{"bad certain"}},
		"what a sandbox saw": {func(d *day) {
			bad := d.did("bad", "a", "1", is(interlock.ImpactExecute, "make"))
			bad.Watched, bad.Effects = true, []interlock.Effect{{Path: "out/x"}, {Path: "hook", Held: true}}
			d.did("b", "b", "2", reads("/w/out/x"))
			d.did("twin", "c", "3", reads("/w/hook"))
		}, []string{"bad certain", "b certain"}},
	} {
		var d day
		test.day(&d)
		if got := d.found(Seed{Event: "bad"}); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, test.want)
		}
	}
}

// TestSeedOfAnAgent: all that an agent did from a time on is compromised, what it had begun and not ended may be, and nothing before.
func TestSeedOfAnAgent(t *testing.T) {
	var d day
	d.did("before", "a", "1", writes("/w/old"))
	d.did("under way", "a", "1", writes("/w/x")).Ended = noon.Add(time.Hour)
	d.did("of another", "b", "2", reads("/w/old"))
	d.did("after", "a", "1", writes("/w/y"))
	skipped := d.did("skipped", "a", "1", writes("/w/z"))
	skipped.Status = interlock.OutcomeSkipped
	want := []string{"under way possible", "after certain"}
	if got := d.found(Seed{Agent: "a", Since: noon.Add(3 * time.Minute)}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, r := range d.Downstream(Seed{Agent: "a", Since: noon.Add(3 * time.Minute)}) {
		if !r.Itself {
			t.Errorf("%s is not taken for compromised", r.Event)
		}
	}
}

// FuzzFlow: whatever was written and read, what is certain is possible too, everything found has a reason that was found, and more
// that is recorded takes nothing away.
func FuzzFlow(f *testing.F) {
	f.Add([]byte{1, 2, 3, 1, 2, 17, 4, 99, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		build := func(uses bool) *day {
			d := &day{}
			for n := 0; n+2 < len(data) && n < 90; n += 3 {
				target := fmt.Sprintf("/w/%d/%d", data[n+1]%3, data[n+1]%7)
				a := d.did(fmt.Sprint(d.n), string('a'+rune(data[n]%4)), fmt.Sprint(data[n]%5), reads(target), writes(fmt.Sprintf("/w/%d/%d",
					data[n+2]%3, data[n+2]%7)))
				if uses && data[n]%3 == 0 {
					a.Uses = []string{fmt.Sprint(data[n+2])}
				}
			}
			return d
		}
		few, more := build(false).Downstream(Seed{Event: "0"}), build(true).Downstream(Seed{Event: "0"})
		sure := map[string]Certainty{}
		for _, r := range more {
			sure[r.Event] = r.Sure
			for _, why := range r.Because {
				if !slices.ContainsFunc(more, func(o Reached) bool { return o.Event == why.From }) {
					t.Errorf("%s is because of %s, which is not downstream", r.Event, why.From)
				}
			}
			if len(r.Because) == 0 && !r.Itself {
				t.Errorf("%s has no reason", r.Event)
			}
		}
		for _, r := range few {
			if now, still := sure[r.Event]; !still || r.Sure == Certain && now != Certain {
				t.Errorf("%s was %s and is %q where more is recorded", r.Event, r.Sure, now)
			}
		}
	})
}
