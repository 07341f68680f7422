package flow

import (
	"reflect"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/lex"
)

// tainted are flows that carry one thing each.
func tainted() map[string]Flow {
	return map[string]Flow{
		"decoded": {Decoded: true}, "network": {Network: true, Source: "example.org"}, "secret": {Secret: true}, "encoded": {Encoded: true},
		"outside": {Outside: true}, "handed": {Handed: true}, "shell": {Shell: true}, "filed": {Filed: true}, "composed": {Composed: true},
		"unread": {Unread: "a"},
	}
}

// holds reports whether a flow carries everything that another does, apart from the bytes.
func holds(f, part Flow) bool {
	f.Text, f.Known, part.Text, part.Known = "", false, "", false
	var both Flow
	both.Taint(f)
	both.Taint(part)
	return reflect.DeepEqual(TaintOnly(f), both)
}

// Taint only grows: whatever joins two flows keeps all that either carried.
func TestTaintOnlyGrows(t *testing.T) {
	for a, first := range tainted() {
		if reflect.DeepEqual(TaintOnly(first), Flow{}) {
			t.Errorf("%s does not flow on at all", a)
		}
		for b, second := range tainted() {
			for _, texts := range [][2]string{{"x", "y"}, {"", "y"}, {"x", ""}, {strings.Repeat("x", lex.MaxText), "y"}} {
				for _, known := range []bool{true, false} {
					one, other := first, second
					one.Text, one.Known, other.Text, other.Known = texts[0], known, texts[1], true
					var sequence Sequence
					sequence.Add(one)
					sequence.Add(other)
					for how, got := range map[string]Flow{"then": one.Then(other), "sequence": sequence.Flow(),
						"join":            Join(Field{Text: "a", Flow: one}, Field{Text: "b", Flow: other}).Flow,
						"join to nothing": Join(Field{Flow: one}, Field{Text: "b", Flow: other}).Flow} {
						if !holds(got, one) || !holds(got, other) {
							t.Errorf("%s of %s and %s: %+v", how, a, b, got)
						}
					}
				}
			}
		}
	}
}

// What follows one another is known only where both are, and is never said to be known when it did not fit.
func TestKnownText(t *testing.T) {
	known, unknown := Flow{Text: "a\n", Known: true}, Flow{}
	long := Flow{Text: strings.Repeat("a", lex.MaxText), Known: true}
	for _, c := range []struct {
		name        string
		first, next Flow
		text        string
		known       bool
	}{
		{"both known", known, Flow{Text: "b", Known: true}, "a\nb", true},
		{"first unknown", unknown, known, "", false},
		{"second unknown", known, unknown, "", false},
		{"nothing, then known", Flow{Known: true}, known, "a\n", true},
		{"too long", long, known, "", false},
	} {
		var sequence Sequence
		sequence.Add(c.first)
		sequence.Add(c.next)
		for how, got := range map[string]Flow{"then": c.first.Then(c.next), "sequence": sequence.Flow()} {
			if got.Known != c.known || c.known && got.Text != c.text {
				t.Errorf("%s, %s: known %v, %d bytes", c.name, how, got.Known, len(got.Text))
			}
		}
	}
}

// A word that became too long is no longer known.
func TestJoinIsBounded(t *testing.T) {
	got := Join(Field{Text: strings.Repeat("a", lex.MaxText)}, Field{Text: "b"})
	if len(got.Text) != lex.MaxText || !got.Dynamic {
		t.Errorf("%d bytes, dynamic %v", len(got.Text), got.Dynamic)
	}
	for name, part := range map[string]Field{"dynamic": {Text: "$x", Dynamic: true}, "glob": {Text: "*", Glob: true}, "odd": {Text: "a", Odd: true}} {
		got := Join(Field{Text: "p"}, part)
		if got.Dynamic != part.Dynamic || got.Glob != part.Glob || got.Odd != part.Odd || got.Text != "p"+part.Text {
			t.Errorf("%s is lost: %+v", name, got)
		}
	}
}

func TestNetworkDevice(t *testing.T) {
	for name, want := range map[string]string{"/dev/tcp/example.org/80": "example.org:80", "/dev/udp/10.0.0.1/53": "10.0.0.1:53",
		"/dev/null": "", "/dev/tcpx/a/1": ""} {
		if peer, ok := NetworkDevice(name); peer != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, peer, ok)
		}
	}
}

func TestDialectOf(t *testing.T) {
	for tool, want := range map[string]Dialect{"": DialectGuess, "bash": DialectGuess, "PowerShell": DialectPowerShell, "run_pwsh": DialectPowerShell,
		"cmd": DialectCmd, "batch": DialectCmd, "command": DialectGuess} {
		if got := DialectOf(interlock.Action{Kind: interlock.KindShell, Tool: tool}); got != want {
			t.Errorf("%q: %v, want %v", tool, got, want)
		}
	}
}

func TestSpelledOut(t *testing.T) {
	got := SpelledOut([]Field{Literal("rm"), Literal("a b"), Literal(""), {Text: "$x y", Dynamic: true}})
	if want := "rm 'a b' '' $x y"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
