package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"sort"
	"strings"
	"testing"

	"interlock/internal/strictyaml"
	"interlock/rules"
)

var update = flag.Bool("update", false, "write defaults.json instead of comparing it")

// TestDefaultsAreFresh converts every YAML document and compares the result with what is embedded.
func TestDefaultsAreFresh(t *testing.T) {
	want, err := bundle(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("defaults.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile("defaults.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("defaults.json is not what the YAML documents say; run: go generate ./rules")
	}
}

// bundle joins the documents below root, one line each.
func bundle(root fs.FS) ([]byte, error) {
	var names []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".yaml") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out bytes.Buffer
	out.WriteString("{\n")
	for i, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		document, err := strictyaml.ToJSON("rules/"+name, text)
		if err != nil {
			return nil, err
		}
		if document, err = withoutTests(name, document); err != nil {
			return nil, err
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		if err := json.Compact(&out, document); err != nil {
			return nil, err
		}
		if i < len(names)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}

// withoutTests drops the tests of commands, which nothing needs at run time.
func withoutTests(name string, document []byte) ([]byte, error) {
	if !strings.HasPrefix(name, "commands/") {
		return document, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(document, &members); err != nil {
		return nil, err
	}
	if members["tests"] == nil {
		return document, nil
	}
	delete(members, "tests")
	return json.Marshal(members)
}

func TestDefaultsHoldsEveryDocument(t *testing.T) {
	var all map[string]json.RawMessage
	text, err := os.ReadFile("defaults.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("defaults.json is no JSON object: %v", err)
	}
	got := rules.Defaults()
	if len(got) != len(all) {
		t.Errorf("Defaults() has %d documents, defaults.json %d", len(got), len(all))
	}
	for name, want := range all {
		if !bytes.Equal(got[name], want) {
			t.Errorf("Defaults()[%q] is not the document in defaults.json", name)
		}
	}
}

func BenchmarkDefaults(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(rules.Defaults()) == 0 {
			b.Fatal("no documents")
		}
	}
}
