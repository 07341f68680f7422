package strictjson_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/strictjson"
	"interlock/internal/strictjson/filltest"
)

// text draws strings of all sorts: plain ones, ones with escapes, and some that are not UTF-8.
func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z/ .]{0,8}`), rapid.String(),
		rapid.SampledFrom([]string{"", "\x00", "\"\\", "<&>", "\u2028", "\x7f", "\u00e9\U0001f600\ufb33", "\xff"}))
}

func moment() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "zero") {
			return time.Time{}
		}
		at := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		if rapid.Bool().Draw(t, "utc") {
			return at.UTC()
		}
		return at.In(time.FixedZone("", rapid.IntRange(-1<<17, 1<<17).Draw(t, "offset")))
	})
}

func drawSnapshot(t *rapid.T) interlock.Snapshot {
	list := rapid.SliceOfN(text(), 0, 3)
	pairs := rapid.MapOfN(text(), text(), 0, 4)
	var upstream *interlock.Upstream
	var origin *interlock.Origin
	if rapid.Bool().Draw(t, "hasOrigin") {
		origin = &interlock.Origin{Prompted: rapid.Bool().Draw(t, "prompted"), Asked: []string{text().Draw(t, "asked")},
			Named: rapid.IntRange(0, 9).Draw(t, "named"), Source: text().Draw(t, "source")}
	}
	var pin *interlock.Pin
	if rapid.Bool().Draw(t, "behind a gateway") {
		upstream = &interlock.Upstream{Server: text().Draw(t, "server"), Identity: interlock.Digest(text().Draw(t, "identity")), Tool: text().Draw(t, "tool"),
			Definition: interlock.Digest(text().Draw(t, "definition"))}
	}
	if rapid.Bool().Draw(t, "pinned") {
		pin = &interlock.Pin{Server: text().Draw(t, "server"), Tool: text().Draw(t, "tool"), Status: interlock.PinStatus(text().Draw(t, "status")),
			Why: interlock.PinReason(text().Draw(t, "why")), Detail: text().Draw(t, "detail"), Identity: interlock.Digest(text().Draw(t, "identity")),
			Definition: interlock.Digest(text().Draw(t, "definition")), SeenFrom: interlock.Digest(text().Draw(t, "seen from")),
			Seen: interlock.Digest(text().Draw(t, "seen")), By: text().Draw(t, "by"), Since: moment().Draw(t, "since").UTC()}
		for _, former := range list.Draw(t, "former") {
			pin.Former = append(pin.Former, interlock.Digest(former))
			pin.Places = append(pin.Places, interlock.Digest(former+"p"))
			pin.Lists = append(pin.Lists, former+"l")
		}
	}
	yes := true
	flag := func(name string) *bool {
		return rapid.SampledFrom([]*bool{nil, new(bool), &yes}).Draw(t, name)
	}
	var annotations *interlock.Annotations
	if rapid.Bool().Draw(t, "annotated") {
		annotations = &interlock.Annotations{ReadOnly: flag("read-only"), Destructive: flag("destructive"),
			Idempotent: flag("idempotent"), OpenWorld: flag("open world")}
	}
	var failed *interlock.Failures
	if rapid.Bool().Draw(t, "failed before") {
		failed = &interlock.Failures{Last: moment().Draw(t, "last"), Outcome: interlock.OutcomeStatus(text().Draw(t, "outcome")),
			Count: rapid.IntRange(0, 9).Draw(t, "count"), Changed: rapid.Bool().Draw(t, "changed")}
	}
	var judgments []interlock.Judgment
	for _, reason := range list.Draw(t, "judgments") {
		judgments = append(judgments, interlock.Judgment{Judge: text().Draw(t, "judge"), Reason: reason,
			Rule: text().Draw(t, "rule_id"), Model: text().Draw(t, "model"), Cost: rapid.Int64().Draw(t, "cost"),
			Remembered: rapid.Bool().Draw(t, "remembered"), Percent: rapid.IntRange(0, 100).Draw(t, "confidence"),
			Verdict: rapid.SampledFrom([]interlock.Verdict{interlock.Allow, interlock.Deny, 99}).Draw(t, "judged")})
	}
	return interlock.Snapshot{
		Judgments: judgments,
		Failed:    failed, Origin: origin, Upstream: upstream, Pin: pin, Sandboxed: rapid.Bool().Draw(t, "sandboxed"),
		Version: rapid.Int64().Draw(t, "version"), Mode: interlock.Mode(rapid.IntRange(0, 4).Draw(t, "mode")),
		Profile: text().Draw(t, "profile"), Attended: rapid.Bool().Draw(t, "attended"),
		Agent: interlock.AgentRecord{ID: text().Draw(t, "id"), Type: text().Draw(t, "type"), Principal: text().Draw(t, "principal"),
			Trust: interlock.Trust(rapid.IntRange(0, 5).Draw(t, "trust")), Allow: list.Draw(t, "allow"),
			TokenHash: text().Draw(t, "hash"), Created: moment().Draw(t, "created"), Revoked: moment().Draw(t, "revoked")},
		View: interlock.View{Home: text().Draw(t, "home"), Workspace: text().Draw(t, "workspace"), User: text().Draw(t, "user"),
			Self: list.Draw(t, "self"), Endpoints: list.Draw(t, "endpoints"), Production: list.Draw(t, "production"),
			Links: pairs.Draw(t, "links"), Scripts: pairs.Draw(t, "scripts"), Annotations: annotations},
		Danger: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) interlock.DangerRule {
			return interlock.DangerRule{Name: text().Draw(t, "name"), Level: interlock.Danger(rapid.IntRange(0, 5).Draw(t, "level"))}
		}), 0, 2).Draw(t, "danger"),
		Recent: rapid.SliceOfN(rapid.Custom(drawPast), 0, 2).Draw(t, "recent"), Taken: moment().Draw(t, "taken"),
		Suppressions: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) interlock.Suppression {
			return interlock.Suppression{ID: text().Draw(t, "id"), Rule: text().Draw(t, "rule"), Agent: text().Draw(t, "agent"),
				Path: text().Draw(t, "path"), Command: text().Draw(t, "command"), Denials: rapid.Bool().Draw(t, "denials"),
				Reason: text().Draw(t, "reason"), Operator: text().Draw(t, "operator"), Created: moment().Draw(t, "created"),
				Expires: moment().Draw(t, "expires"), Key: text().Draw(t, "key"), Statement: text().Draw(t, "statement"),
				Signature: text().Draw(t, "signature")}
		}), 0, 2).Draw(t, "suppressions"),
	}
}

func drawPast(t *rapid.T) interlock.PastAction {
	return interlock.PastAction{At: moment().Draw(t, "at"), Kind: interlock.Kind(text().Draw(t, "kind of action")),
		Impacts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) interlock.Impact {
			return interlock.Impact{Kind: interlock.ImpactKind(text().Draw(t, "kind")), Target: text().Draw(t, "target"),
				Reach: interlock.Reach(text().Draw(t, "reach")), Reversibility: interlock.Reversibility(text().Draw(t, "reversibility")),
				Amount: rapid.Int64().Draw(t, "amount"), Confidence: interlock.Confidence(text().Draw(t, "confidence")),
				Via: text().Draw(t, "via"), Traits: rapid.SliceOfN(text(), 0, 2).Draw(t, "traits")}
		}), 0, 2).Draw(t, "impacts")}
}

func generalDigest(domain string, v any) (interlock.Digest, error) {
	text, err := strictjson.General(v)
	if err != nil {
		return "", err
	}
	return strictjson.DigestBytes(domain, text), nil
}

// The snapshot's plan and the general encoder give one digest and refuse the same values.
func TestSnapshotDigestIsTheGeneralOne(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		if rapid.Bool().Draw(t, "tame") {
			s.Version, s.Mode, s.Agent.Trust, s.Danger = s.Version%1000, interlock.Monitoring, interlock.TrustCertified, nil
			s.Agent.Created, s.Agent.Revoked = s.Agent.Created.UTC(), s.Agent.Revoked.UTC()
			s.Taken = s.Taken.UTC()
			for i := range s.Suppressions {
				s.Suppressions[i].Created, s.Suppressions[i].Expires = s.Suppressions[i].Created.UTC(), s.Suppressions[i].Expires.UTC()
			}
			for i := range s.Recent {
				s.Recent[i].At = s.Recent[i].At.UTC()
			}
		}
		want, wantErr := generalDigest("interlock/snapshot/v1", s)
		got, err := strictjson.SnapshotDigest(&s)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v\nhave %s, %v\nwant %s, %v", s, got, err, want, wantErr)
		}
		if err == nil {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("every snapshot drawn was refused, so nothing was compared")
	}
}

func TestActionDigestIsTheGeneralOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := interlock.Action{Kind: interlock.Kind(text().Draw(t, "kind")), Tool: text().Draw(t, "tool"), Input: text().Draw(t, "input"),
			Dir: text().Draw(t, "dir"), Hint: text().Draw(t, "hint")}
		a.Arguments = []byte(rapid.SampledFrom([]string{"", "{}", `{ "b": 1e2, "a": "\u00e9"}`, `{"a":`, `{"n":9007199254740993}`}).Draw(t, "arguments"))
		var arguments any
		if len(a.Arguments) > 0 {
			arguments = a.Arguments
		}
		want, wantErr := generalDigest("interlock/action/v1",
			map[string]any{"arguments": arguments, "dir": a.Dir, "input": a.Input, "kind": a.Kind, "tool": a.Tool})
		got, err := strictjson.ActionDigest(a)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v\nhave %s, %v\nwant %s, %v", a, got, err, want, wantErr)
		}
	})
}

// No field is left out by the plan, or a decision's digest would not name all that was known.
func TestSnapshotDigestHasEveryField(t *testing.T) {
	s := filltest.Value[interlock.Snapshot]()
	want, err := generalDigest("interlock/snapshot/v1", s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := strictjson.SnapshotDigest(&s); err != nil || got != want {
		t.Errorf("%s, %v; want %s: a field is missing from the plan", got, err, want)
	}
}

func BenchmarkSnapshotDigest(b *testing.B) {
	s := interlock.Snapshot{Version: 7, Profile: "guard", Agent: interlock.AgentRecord{ID: "claude", Principal: "pat"},
		View: interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", User: "dev", Production: []string{"*prod*", "main"},
			Self: []string{"/home/dev/.local/share/interlock", "/home/dev/.claude/settings.json", "/usr/local/bin/interlock"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.SnapshotDigest(&s); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever byte stands wherever in a string, it is written as the general encoder would.
func TestEveryByteEverywhere(t *testing.T) {
	for c := range 256 {
		for at := range 18 {
			text := []byte("abcdefghijklmnopqr")
			text[at] = byte(c)
			s := interlock.Snapshot{Profile: string(text)}
			want, wantErr := generalDigest("interlock/snapshot/v1", s)
			got, err := strictjson.SnapshotDigest(&s)
			if got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("byte %#x at %d: have %s, %v; want %s, %v", c, at, got, err, want, wantErr)
			}
			quoted := append(append([]byte{'"'}, text...), '"')
			var have, whole string
			var list []string
			err = strictjson.Decode(quoted, &have)
			listErr := strictjson.Decode(append(append([]byte{'['}, quoted...), ']'), &list)
			if len(list) > 0 {
				whole = list[0]
			}
			if have != whole && err == nil || (err == nil) != (listErr == nil) {
				t.Fatalf("byte %#x at %d: decoded to %q, %v, and in a list to %q, %v", c, at, have, err, whole, listErr)
			}
		}
	}
}
