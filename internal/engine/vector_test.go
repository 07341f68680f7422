package engine

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

var update = flag.Bool("update", false, "write what is decided into the decision vectors")

// A vector is one decision vector. Its first line is the answer and what it shows; -update never changes that line, so
// a vector whose answer changes stays red until a human has changed it.
type vector struct {
	archive  *txtar.Archive
	answer   string
	question question
	want     []byte
}

// standing is the snapshot vectors begin from: a local, unregistered agent under guard, with somebody at the keyboard.
func standing() interlock.Snapshot {
	return interlock.Snapshot{
		Version: 7, Mode: interlock.Enforcing, Profile: "guard", Attended: true,
		Agent: interlock.AgentRecord{ID: "claude", Type: "claude", Principal: "user"},
		View: interlock.View{Home: "/home/user", Workspace: "/home/user/project", User: "user",
			Self:       []string{"/home/user/.local/bin/interlock", "/home/user/.local/share/interlock"},
			Endpoints:  []string{"127.0.0.1:7433"},
			Production: []string{"*prod*"}},
	}
}

func readVector(t *testing.T, file string) vector {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := vector{archive: archive}
	v.answer, _, _ = strings.Cut(string(archive.Comment), ":")
	v.question = question{rules: shipped(t), snapshot: standing(), now: noon}
	parts := map[string][]byte{}
	for _, f := range archive.Files {
		if _, twice := parts[f.Name]; twice {
			t.Fatalf("%s stands twice", f.Name)
		}
		parts[f.Name] = f.Data
	}
	take := func(name string) []byte {
		data := parts[name]
		delete(parts, name)
		return data
	}
	if rules := take("rules.yaml"); rules != nil {
		if v.question.rules, err = ruleset.Load(shippedFiles(t), map[string][]byte{"rules.yaml": rules}); err != nil {
			t.Fatal(err)
		}
	}
	decode := func(name string, data []byte, into any) {
		if data == nil {
			return
		}
		if err := strictjson.Decode(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	decode("action.json", take("action.json"), &v.question.action)
	decode("snapshot.json", take("snapshot.json"), &v.question.snapshot)
	decode("findings.json", take("findings.json"), &v.question.findings)
	digest, err := strictjson.ActionDigest(v.question.action)
	if err != nil {
		t.Fatal(err)
	}
	if approvals := take("approvals.json"); approvals != nil {
		approvals = bytes.ReplaceAll(approvals, []byte("$action"), []byte(digest))
		approvals = bytes.ReplaceAll(approvals, []byte("$ruleset"), []byte(v.question.rules.Digest()))
		decode("approvals.json", approvals, &v.question.approvals)
	}
	v.want = take("want.json")
	for name := range parts {
		t.Fatalf("%s: unknown part of a vector", name)
	}
	v.question.analysis = analyser(t).Analyse(v.question.snapshot.View, v.question.action)
	return v
}

// pretty is a decision without its digests, which change with every rule.
func pretty(t *testing.T, d interlock.Decision) []byte {
	t.Helper()
	d.Action, d.Ruleset, d.Snapshot = "", "", ""
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("there are %d vectors, at least 100 are wanted (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			v := readVector(t, file)
			d := v.question.decide()
			if got := d.Answer.String(); got != v.answer {
				t.Errorf("answered %s by %v, want %s: %s", got, rulesOf(d), v.answer, v.question.action.Input)
			}
			got := pretty(t, d)
			if *update {
				writeVector(t, file, v, got)
				return
			}
			if diff := cmp.Diff(string(v.want), string(got)); diff != "" {
				t.Error(diff)
			}
			roundTrip(t, v.question, d)
		})
	}
}

func rulesOf(d interlock.Decision) []string {
	out := []string{}
	for _, f := range d.Findings {
		out = append(out, f.Rule)
	}
	return out
}

func writeVector(t *testing.T, file string, v vector, want []byte) {
	t.Helper()
	kept := v.archive.Files[:0]
	for _, f := range v.archive.Files {
		if f.Name != "want.json" {
			kept = append(kept, f)
		}
	}
	v.archive.Files = append(kept, txtar.File{Name: "want.json", Data: want})
	if err := os.WriteFile(file, txtar.Format(v.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// roundTrip decides again from values that went through canonical JSON, as a replay from the log does.
func roundTrip(t *testing.T, q question, want interlock.Decision) {
	t.Helper()
	again := q
	again.action, again.snapshot, again.findings, again.approvals = interlock.Action{}, interlock.Snapshot{}, nil, nil
	again.analysis = impact.Analysis{}
	for _, pair := range []struct{ from, into any }{
		{q.action, &again.action}, {q.snapshot, &again.snapshot}, {q.findings, &again.findings},
		{q.approvals, &again.approvals}, {q.analysis, &again.analysis},
	} {
		data, err := strictjson.Marshal(pair.from)
		if err != nil {
			t.Fatal(err)
		}
		if err := strictjson.Decode(data, pair.into); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(marshal(t, want), marshal(t, again.decide())) {
		t.Errorf("after a round trip through canonical JSON the decision is %s\nand was %s", marshal(t, again.decide()), marshal(t, want))
	}
}
