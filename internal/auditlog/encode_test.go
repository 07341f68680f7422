package auditlog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	legacy "github.com/go-json-experiment/json/v1"
	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/strictjson"
)

// general is the canonical form of what the JSON library writes of a value, whatever the program has to do so faster.
func general(v any) ([]byte, error) {
	text, err := jsonv2.Marshal(v, legacy.FormatDurationAsNano(true), legacy.OmitEmptyWithLegacySemantics(true))
	if err != nil {
		return nil, err
	}
	return strictjson.Canonical(text)
}

// A decision is written as the general encoder writes it, and the same values are refused. Values are drawn by type, so that no
// member is left out.
func TestDecisionIsEncodedAsByTheGeneralEncoder(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[a-z/ .]{0,8}`), rapid.String(),
		rapid.SampledFrom([]string{"\x00", "\"\\", "<&>", "\u2028", "\x7f", "\u00e9\U0001f600\ufb33"}))
	config := func(tame bool) rapid.MakeConfig {
		arguments := []string{"", "{}", `{"b": 1e2,"a":"\u00e9"}`}
		past := 0
		if !tame {
			arguments = append(arguments, `{"a":`, `{"n":9007199254740993}`)
			text = rapid.OneOf(text, rapid.Just("\xff"))
			past = 1
		}
		return rapid.MakeConfig{
			Types: map[reflect.Type]*rapid.Generator[any]{
				reflect.TypeFor[interlock.Verdict](): rapid.Map(rapid.Uint8Range(0, uint8(3+past)),
					func(n uint8) interlock.Verdict { return interlock.Verdict(n) }).AsAny(),
				reflect.TypeFor[interlock.Danger](): rapid.Map(rapid.Uint8Range(0, uint8(4+past)),
					func(n uint8) interlock.Danger { return interlock.Danger(n) }).AsAny(),
				reflect.TypeFor[interlock.Mode](): rapid.Map(rapid.Uint8Range(0, uint8(3+past)),
					func(n uint8) interlock.Mode { return interlock.Mode(n) }).AsAny(),
				reflect.TypeFor[json.RawMessage](): rapid.Map(rapid.SampledFrom(arguments),
					func(s string) json.RawMessage { return json.RawMessage(s) }).AsAny(),
				reflect.TypeFor[time.Time](): rapid.Map(rapid.Int64Range(-1<<(36+4*past), 1<<(36+4*past)), func(n int64) time.Time {
					return time.Unix(n, n&1023).UTC()
				}).AsAny(),
				reflect.TypeFor[string](): text.AsAny(),
				reflect.TypeFor[int]():    rapid.IntRange(-1<<(53+past)+1, 1<<(53+past)-1).AsAny(),
				reflect.TypeFor[int64]():  rapid.Int64Range(-1<<(53+past)+1, 1<<(53+past)-1).AsAny(),
			},
		}
	}
	accepted := 0
	for _, tame := range []bool{true, false} {
		wires := rapid.MakeCustom[decisionWire](config(tame))
		rapid.Check(t, func(t *rapid.T) {
			wire := wires.Draw(t, "wire")
			want, wantErr := general(&wire)
			got, err := strictjson.Marshal(&wire)
			if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("have %s, %v\nwant %s, %v", got, err, want, wantErr)
			}
			if err == nil {
				accepted++
			}
		})
	}
	if accepted == 0 {
		t.Error("every record drawn was refused, so nothing was compared")
	}
}

// Times are written as the layouts say.
func TestTimesAreWrittenAsTheLayoutsSay(t *testing.T) {
	times := []time.Time{{}, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 1000, time.UTC)}
	for at := time.Date(1970, 1, 1, 0, 0, 0, 0,
		time.UTC); at.Year() < 2150; at = at.Add(11*24*time.Hour + 7*time.Hour + 13*time.Minute + 17*time.Second + 101_101*time.Microsecond) {
		times = append(times, at)
	}
	for _, at := range times {
		event := Event{Payload: []byte("{}"), Recorded: at.In(time.FixedZone("", 3600)), Seeded: at}
		want := `,"ts_recorded":"` + at.Format(recordedLayout) + `","ts_seeded":"` + at.Format(seededLayout) + `"}`
		if got := string(event.append(nil)); !strings.HasSuffix(got, want) {
			t.Fatalf("have %s, want it to end in %s", got, want)
		}
	}
}

// BenchmarkDecisionPayload measures the payload of a typical decision.
func BenchmarkDecisionPayload(b *testing.B) {
	record := DecisionRecord{
		Proposal: interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "git diff HEAD~1 -- src/main.go | head -50", Dir: "/repo"},
			Requester: interlock.Requester{Principal: "pat", Agent: "claude", Run: "run"}, Door: "socket"},
		Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Action: noPrevious, Ruleset: noPrevious,
			Snapshot: noPrevious, Profile: "guard",
			Impacts: []interlock.Impact{{Kind: interlock.ImpactRead, Target: "src/main.go", Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Readonly, Confidence: interlock.Parsed, Via: "git diff"}}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Payload(); err != nil {
			b.Fatal(err)
		}
	}
}

// A time is read as Parse reads it, and what Parse refuses is refused.
func TestTimesAreReadAsTheLayoutsSay(t *testing.T) {
	for _, text := range []string{"2026-11-28T05:09:07", "2024-02-29T23:59:59", "2023-02-29T00:00:00", "0000-01-01T00:00:00", "9999-12-31T23:59:59",
		"2026-13-01T00:00:00", "2026-00-10T00:00:00", "2026-04-31T00:00:00", "2026-04-00T00:00:00", "2026-04-30T24:00:00", "2026-04-30T00:60:00",
		"2026-04-30T00:00:60", "2026-04-30 00:00:00", "2026-4-030T00:00:00", "2026-04-3xT00:00:00", "+026-04-30T00:00:00", "2026:04-30T00:00:00"} {
		for layout, tail := range map[string]string{recordedLayout: ".012345Z", seededLayout: "Z"} {
			want, err := time.Parse(layout, text+tail)
			got, ok := timeIn([]byte(text+tail), layout)
			if ok != (err == nil) || ok && got != want {
				t.Errorf("%s: %v, %v; Parse says %v, %v", text+tail, got, ok, want, err)
			}
		}
	}
}
