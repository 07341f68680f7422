package auditlog_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
	"interlock/spec"
)

func TestEventID(t *testing.T) {
	spec.Covers(t, "MACE-ID-1")
	spec.Covers(t, "MACE-ID-1")
	for _, test := range []struct {
		sequence int64
		kind     interlock.EventType
		want     string
	}{
		{1, "SAFETY_BLOCK_EVENT", "5422a31e0422df29696c13af98da9b68b099fb100e285dfe050863bfbcbd6614"},
		{2, "REDACTION_EVENT", "0a19dc794b23bae679b30b3e1b06ac1fe96524feba0d01a3e8bd8e3c10c8a7e7"},
		{3, "PII_FLAGGED", "9621d10f526061bf58ee4fd0b369090c1b7afb26fcc7d852f49aae4fee65134d"},
	} {
		if got := auditlog.EventID("seed-0001", test.sequence, test.kind); got != test.want {
			t.Errorf("EventID(seed-0001, %d, %s) = %s, want %s", test.sequence, test.kind, got, test.want)
		}
	}
}

// The hand-written encoder must write what the general canonical encoder writes, whatever the strings hold.
func TestEventIsCanonicalJSON(t *testing.T) {
	spec.Covers(t, "MACE-CAN-1")
	sealer := testSealer(t, 1)
	for _, text := range []string{"plain", "", "quote\" back\\slash", "\x00\x01\x1f\b\f\n\r\t", "ünïcode \u2028\U0001F600", "\x7f<>&"} {
		for _, kind := range []interlock.EventType{interlock.EventDecision, interlock.EventAlert} {
			log := &memoryLog{}
			d := draft(kind, "seed"+text, `{"a":[1,{"b":"}{\"\\"}],"é":"ü"}`)
			d.Actor, d.Role, d.Trace = text, text, text
			log.seal(t, sealer, d)
			body := log.entries[0].Body
			canonical, err := strictjson.Canonical(body)
			if err != nil {
				t.Fatalf("%q: %v in %s", text, err, body)
			}
			if diff := cmp.Diff(string(canonical), string(body)); diff != "" {
				t.Errorf("%q is not encoded canonically (-want +got):\n%s", text, diff)
			}
			event, err := auditlog.ParseEvent(body)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			got := []string{event.Actor, event.Role, event.Trace, event.Seed, string(event.Payload)}
			if diff := cmp.Diff([]string{text, text, text, "seed" + text, string(d.Payload)}, got); diff != "" {
				t.Errorf("%q does not come back (-want +got):\n%s", text, diff)
			}
		}
	}
}

// Every envelope member that MACE names is there, with the value it must have.
func TestEnvelope(t *testing.T) {
	spec.Covers(t, "MACE-LOG-2")
	spec.Covers(t, "MACE-LOG-2")
	sealer := testSealer(t, 1)
	log := &memoryLog{}
	log.seal(t, sealer, draft(interlock.EventDecision, "seed", `{"n":1}`), draft(interlock.EventAlert, "seed", `{"n":2}`))
	var got map[string]any
	if err := json.Unmarshal(log.entries[1].Body, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "signature") // checked by verification
	want := map[string]any{
		"actor_id": "agent", "event_id": auditlog.EventID("seed", 2, interlock.EventAlert), "event_type": "ALERT",
		"content_hash": "sha256:b9a46e9b2b6bbdbec8f5f3c43d98c11d1c83d93ca1e78afe8fa7c2d8ae6d9a1c",
		"job_seed":     "seed", "key_id": sealer.Public().ID(), "payload": map[string]any{"n": 2.0},
		"prev_hash": auditlog.RecordHash(log.entries[0].Body), "role": "agent", "schema": "interlock.event/v1",
		"sequence_index": 2.0, "sig_alg": "ed25519",
		"snapshot_ids": map[string]any{"ruleset": "sha256:22", "snapshot": "sha256:11"}, "trace_id": "trace",
		"ts_recorded": "2026-05-06T07:08:09.123456Z", "ts_seeded": "2000-01-01T00:00:02Z",
	}
	want["content_hash"] = "sha256:" + sha256Hex(`{"n":2}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
}

func TestParseEventRefuses(t *testing.T) {
	log := &memoryLog{}
	log.seal(t, testSealer(t, 1), draft(interlock.EventAlert, "seed", `{"n":1}`))
	good := string(log.entries[0].Body)
	if _, err := auditlog.ParseEvent([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty":             "",
		"not JSON":          "hello",
		"white space":       strings.Replace(good, `"role":"agent"`, `"role": "agent"`, 1),
		"member missing":    strings.Replace(good, `"role":"agent",`, ``, 1),
		"member added":      strings.Replace(good, `"role":"agent",`, `"role":"agent","rule":"x",`, 1),
		"member twice":      strings.Replace(good, `"role":"agent",`, `"role":"agent","role":"agent",`, 1),
		"long escape":       strings.Replace(good, `"role":"agent"`, `"role":"\u0061gent"`, 1),
		"bad escape":        strings.Replace(good, `"role":"agent"`, `"role":"\x"`, 1),
		"invalid UTF-8":     strings.Replace(good, `"role":"agent"`, "\"role\":\"\xff\"", 1),
		"sequence zero":     strings.Replace(good, `"sequence_index":1`, `"sequence_index":0`, 1),
		"sequence 01":       strings.Replace(good, `"sequence_index":1`, `"sequence_index":01`, 1),
		"sequence text":     strings.Replace(good, `"sequence_index":1`, `"sequence_index":"1"`, 1),
		"other schema":      strings.Replace(good, `interlock.event/v1`, `interlock.event/v2`, 1),
		"no fraction":       strings.Replace(good, `.123456Z`, `Z`, 1),
		"time zone":         strings.Replace(good, `.123456Z`, `.123456+00:00`, 1),
		"payload a list":    strings.Replace(good, `{"n":1}`, `[1]`, 1),
		"payload unclosed":  strings.Replace(good, `{"n":1}`, `{"n":1`, 1),
		"snapshots swapped": strings.Replace(good, `"ruleset":"sha256:22","snapshot":"sha256:11"`, `"snapshot":"sha256:11","ruleset":"sha256:22"`, 1),
		"empty key":         strings.Replace(good, `"sig_alg":"ed25519"`, `"sig_alg":""`, 1),
		"trailing":          good + " ",
		"truncated":         good[:len(good)-1],
		"oversize":          strings.Replace(good, `"agent"`, `"`+strings.Repeat("a", auditlog.MaxEntry)+`"`, 1),
	} {
		if bad == good {
			t.Fatalf("%s: the test changes nothing", name)
		}
		if _, err := auditlog.ParseEvent([]byte(bad)); err == nil {
			t.Errorf("%s: accepted %.200s", name, bad)
		}
	}
}

func TestCheckRefusesDrafts(t *testing.T) {
	sealer := testSealer(t, 1)
	good := draft(interlock.EventDecision, "seed", `{"n":1}`)
	if _, err := sealer.Check(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*ledger.Draft){
		"no type":             func(d *ledger.Draft) { d.Type = "" },
		"odd type":            func(d *ledger.Draft) { d.Type = "decision" },
		"no seed":             func(d *ledger.Draft) { d.Seed = "" },
		"no time":             func(d *ledger.Draft) { d.Recorded = d.Recorded.AddDate(-3000, 0, 0) },
		"actor not UTF-8":     func(d *ledger.Draft) { d.Actor = "\xff" },
		"long trace":          func(d *ledger.Draft) { d.Trace = strings.Repeat("x", 300) },
		"snapshot not ASCII":  func(d *ledger.Draft) { d.Snapshots = map[string]string{"ruleset": "ü"} },
		"no payload":          func(d *ledger.Draft) { d.Payload = nil },
		"payload not JSON":    func(d *ledger.Draft) { d.Payload = []byte(`{"a":`) },
		"payload a list":      func(d *ledger.Draft) { d.Payload = []byte(`[1]`) },
		"payload spaced":      func(d *ledger.Draft) { d.Payload = []byte(`{"a": 1}`) },
		"payload unsorted":    func(d *ledger.Draft) { d.Payload = []byte(`{"b":1,"a":1}`) },
		"payload twice a key": func(d *ledger.Draft) { d.Payload = []byte(`{"a":1,"a":1}`) },
		"payload too long": func(d *ledger.Draft) {
			d.Payload = []byte(`{"a":"` + strings.Repeat("x", auditlog.MaxPayload) + `"}`)
		},
	} {
		d := draft(interlock.EventDecision, "seed", `{"n":1}`)
		change(&d)
		if _, err := sealer.Check(&d); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParseEvent holds the parser to this: what it accepts is canonical JSON and is written again byte for byte.
func FuzzParseEvent(f *testing.F) {
	log := testLog(f, testSealer(f, 1), 8)
	for _, e := range log.entries {
		f.Add(e.Body)
	}
	f.Add([]byte(`{"actor_id":"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		event, err := auditlog.ParseEvent(body)
		if err != nil {
			return
		}
		canonical, err := strictjson.Canonical(body)
		if err != nil {
			if !json.Valid(event.Payload) || strings.Contains(err.Error(), "beyond") {
				return // the payload is bound by its hash, not by its form
			}
		}
		if err == nil && json.Valid(event.Payload) && bytes.Equal(mustCanonical(event.Payload), event.Payload) && !bytes.Equal(canonical, body) {
			t.Errorf("accepted %q, whose canonical form is %q", body, canonical)
		}
	})
}

func mustCanonical(data []byte) []byte {
	canonical, err := strictjson.Canonical(data)
	if err != nil {
		return nil
	}
	return canonical
}
