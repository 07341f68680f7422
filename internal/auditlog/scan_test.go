package auditlog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock"
)

// An event reads the same whatever was read into its place before, faults included.
func TestEventIsReadAsIfFirst(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "ab", "agent", "\"", "\\", "é", "\x00"})
	events := rapid.Custom(func(t *rapid.T) Event {
		e := Event{Actor: text.Draw(t, "actor"), Content: noPrevious, ID: text.Draw(t, "id"), Type: interlock.EventType(text.Draw(t, "type")),
			Seed: text.Draw(t, "seed"), Payload: []byte("{}"), Previous: text.Draw(t, "previous"), Role: text.Draw(t, "role"), Schema: Schema,
			Sequence: rapid.Int64Range(1, 9).Draw(t, "sequence"), Trace: text.Draw(t, "trace"),
			Snapshots: rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "ruleset"}), text, 0, 3).Draw(t, "snapshots"),
			Recorded:  time.Unix(1, 0).UTC(), Seeded: time.Unix(2, 0).UTC()}
		if rapid.Bool().Draw(t, "signed") {
			e.Key, e.Algorithm, e.Signature = "k", SignatureAlgorithm, "s"
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		var used Event
		for range 4 {
			e := events.Draw(t, "event")
			body := e.append(nil)
			if rapid.IntRange(0, 3).Draw(t, "fault") == 0 {
				body = body[:rapid.IntRange(0, len(body)-1).Draw(t, "end")]
			}
			var fresh Event
			_, want := parseEvent(&fresh, body, nil)
			_, got := parseEvent(&used, body, nil)
			if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
				t.Fatalf("%s: have %v, want %v", body, got, want)
			}
			if diff := cmp.Diff(fresh, used); want == nil && diff != "" {
				t.Fatalf("%s: (-fresh +used):\n%s", body, diff)
			}
		}
	})
}

// TestEscapes: each escape of a string is read as what it stands for, and half a character or what is no escape is refused.
func TestEscapes(t *testing.T) {
	const bad, endless, broken = "a string has a bad escape", "a string has no end", "it is not UTF-8"
	for text, want := range map[string]struct{ value, err string }{
		`a\u0001b"`:  {"a\x01b", ""},
		`\u00e9"`:    {"é", ""},
		`\"\\\b\n"`:  {"\"\\\b\n", ""},
		`\ud83d"`:    {"", bad}, // the first half of a pair
		`\udc00"`:    {"", bad}, // the second
		`\ud7ff"`:    {"\ud7ff", ""},
		`\ue000"`:    {"\ue000", ""},
		`\u00zz"`:    {"", bad},
		`\u-001"`:    {"", bad},
		`\u00e`:      {"", bad},
		`\x"`:        {"", bad},
		`\u0041`:     {"", endless},
		`\`:          {"", endless},
		`a`:          {"", endless},
		"\\n\xff\"":  {"\n\xff", broken},
		`\u0041b"c"`: {"Ab", ""},
	} {
		r := reader{rest: []byte(text)}
		got, said := r.escaped(), ""
		if r.err != nil {
			said = r.err.Error()
		}
		if got != want.value || !strings.HasSuffix(said, want.err) || (said == "") != (want.err == "") {
			t.Errorf("%s: %q and %q, want %q and %q", text, got, said, want.value, want.err)
		}
	}
}
