package evidence_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/embedded"
	"interlock/internal/mcpaql"
	"interlock/internal/mcpaql/evidence"
	"interlock/spec"
)

// serve starts a server in memory over a store of its own and connects to it.
func serve(t *testing.T, single bool) *mcp.ClientSession {
	t.Helper()
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	backend, err := embedded.Open(t.Context(), embedded.Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	server, err := mcpaql.New(mcpaql.Config{Backend: backend.Admission, Rules: backend.Rules, Profile: "guard", Mode: interlock.Enforcing,
		Now: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler), Single: single, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	go server.Run(context.Background(), mcpaql.Caller{Agent: "evidence", Principal: "tester", Connection: "memory"}, there)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// TestBundleIsWhatTheRunnerAccepts collects evidence from a real server and holds it against every check the
// specification's runner makes at level 2.
func TestBundleIsWhatTheRunnerAccepts(t *testing.T) {
	spec.Covers(t, "AQL-10", "AQL-3.3-both")
	bundle, err := evidence.Collect(t.Context(), serve(t, false), serve(t, true))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range evidence.Faults(bundle) {
		t.Error(fault)
	}
	if bundle.Implementation != "interlock" || bundle.Version != "1.2.3" {
		t.Errorf("the evidence is of %s %s", bundle.Implementation, bundle.Version)
	}
	for _, kind := range []string{"semantic_tests", "update_preservation_tests"} {
		if bundle.Absent[kind] == "" {
			t.Errorf("nothing says why there are no %s", kind)
		}
	}
	text, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{"null,", "null}"} { // the runner reads lists, and no answer of ours lacks its data
		if rest := bytes.ReplaceAll(text, bundle.BatchExample, nil); bytes.Contains(rest, []byte(missing)) {
			t.Errorf("the bundle holds a null: %s", text)
		}
	}
}

// TestFaultsAreSeen breaks a sound bundle in every place the runner looks at: a check that never objects proves nothing.
func TestFaultsAreSeen(t *testing.T) {
	sound, err := evidence.Collect(t.Context(), serve(t, false), serve(t, true))
	if err != nil {
		t.Fatal(err)
	}
	replace := func(raw *json.RawMessage, old, new string) {
		t.Helper()
		changed := bytes.Replace(*raw, []byte(old), []byte(new), 1)
		if bytes.Equal(changed, *raw) {
			t.Fatalf("%q does not stand in %s", old, *raw)
		}
		*raw = changed
	}
	for name, damage := range map[string]func(b *evidence.Bundle){
		"a category of its own": func(b *evidence.Bundle) {
			replace(&b.Introspection.OperationsList, `"semantic_category":"READ"`, `"semantic_category":"read"`)
		},
		"a member nobody published": func(b *evidence.Bundle) {
			replace(&b.Introspection.OperationDetails[0], `{"name":`, `{"danger":"safe","name":`)
		},
		"examples as text": func(b *evidence.Bundle) {
			replace(&b.Introspection.OperationDetails[0], `"examples":[`, `"examples":["introspect",`)
		},
		"details of a closed error": func(b *evidence.Bundle) {
			replace(&b.ErrorTests[0].Response, `"error":{`, `"error":{"hint":"x",`)
		},
		"an unknown kind of type": func(b *evidence.Bundle) { replace(&b.Introspection.TypesList, `"kind":"object"`, `"kind":"map"`) },
		"a parameter in camel case": func(b *evidence.Bundle) {
			replace(&b.Introspection.OperationDetails[2], `next_action_hint`, `nextActionHint`)
		},
		"an undocumented parameter": func(b *evidence.Bundle) {
			b.AcceptedParameters["introspect"] = append(b.AcceptedParameters["introspect"], "limit")
		},
		"a requirement not held":  func(b *evidence.Bundle) { b.ParameterTests.MissingRequired[0].Response = b.Introspection.TypesList },
		"an unknown one let pass": func(b *evidence.Bundle) { b.ParameterTests.UnknownParameter[0].Response = b.Introspection.TypesList },
		"another default":         func(b *evidence.Bundle) { b.ParameterTests.OptionalDefaults[0].ExpectedValue = "failed" },
		"a default not shown":     func(b *evidence.Bundle) { b.ParameterTests.OptionalDefaults = nil },
		"a trace of the inside": func(b *evidence.Bundle) {
			replace(&b.ErrorTests[0].Response, `Missing`, `panic at server.go:12: missing`)
		},
		"an error without help": func(b *evidence.Bundle) { b.ErrorTests[0].MustMention = []string{"no such word"} },
		"a lost field":          func(b *evidence.Bundle) { b.RoundTripTests[0].ExpectedFields["data.element_name"] = "other" },
		"a constraint not told": func(b *evidence.Bundle) { b.ConstraintTests[0].Documented = false },
		"one mode only":         func(b *evidence.Bundle) { b.EndpointModes = b.EndpointModes[:1] },
		"no batch":              func(b *evidence.Bundle) { b.BatchExample = b.ErrorTests[0].Response },
	} {
		broken := clone(t, sound)
		damage(&broken)
		if len(evidence.Faults(broken)) == 0 {
			t.Errorf("%s is not seen", name)
		}
	}
	if diff := cmp.Diff([]string(nil), evidence.Faults(clone(t, sound))); diff != "" {
		t.Errorf("the sound bundle (-want +got):\n%s", diff)
	}
}

func clone(t *testing.T, b evidence.Bundle) evidence.Bundle {
	t.Helper()
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var out evidence.Bundle
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
