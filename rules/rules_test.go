package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"interlock/internal/classify"
	"interlock/internal/impact/know"
	"interlock/internal/ruleset"
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
	if err := checked(want); err != nil { // before it is written: a description that is refused leaves its command unknown
		t.Fatalf("these descriptions are wrong:\n%v", err)
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

// checked reads every description of a bundle, as the analysers do when they first need it.
func checked(bundle []byte) error {
	know, err := know.Parse(rules.Documents(bundle))
	if err != nil {
		return err
	}
	if safety := rules.Documents(bundle)["safety.yaml"]; safety != nil {
		if _, err := classify.Parse(safety); err != nil { // a rule that nobody tried stops the generation
			return err
		}
	}
	return know.Check()
}

// TestWrongTablesAreRefused proves that a mistake in a table stops its generation, with the table and the flag named.
func TestWrongTablesAreRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"commands:\n  x:\n    values: -o --out\n    flags:\n      - \"-o\": +force\n", "commands/x.yaml: command x: flag -o is described twice"},
		{"commands:\n  x:\n    flags:\n      - \"-o\": explode\n", "commands/x.yaml: command x: flag -o: "},
		{"commands:\n  x:\n    impacts: [explode operands]\n", "commands/x.yaml: command x: "},
		{"commands:\n  x:\n    sub:\n      y: {impacts: [explode operands]}\n", "commands/x.yaml: command x: y: "},
		{"commands:\n  x:\n    sub:\n      y: {sub: {z: {}}}\n", "commands/x.yaml: command x: y: write subcommands of"},
		{"commands:\n  x: {}\n", ""},
	} {
		text, err := bundle(fstest.MapFS{"commands/x.yaml": {Data: []byte(test.text)}})
		if err != nil {
			t.Fatal(err)
		}
		err = checked(text)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want it to speak of %q", test.text, err, test.want)
		}
	}
}

// lines writes a document in compact form: a command table with a line for each command, any other on one line.
func lines(out *bytes.Buffer, document []byte) error {
	var table struct {
		Commands json.RawMessage `json:"commands"`
	}
	if err := json.Unmarshal(document, &table); err != nil || table.Commands == nil {
		out.Write(document)
		return err
	}
	members := json.NewDecoder(bytes.NewReader(table.Commands))
	if _, err := members.Token(); err != nil {
		return err
	}
	out.WriteString(`{"commands":{`)
	for sep := "\n"; members.More(); sep = ",\n" {
		names, err := members.Token()
		if err != nil {
			return err
		}
		var one json.RawMessage
		if err := members.Decode(&one); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%q:%s", sep, names, one)
	}
	out.WriteString("\n}}")
	return nil
}

// bundle joins the documents below root, each with its digest.
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
		var compact bytes.Buffer
		if err := json.Compact(&compact, document); err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%q:[%q,\n", name, ruleset.DocumentDigest(compact.Bytes()))
		if err := lines(&out, compact.Bytes()); err != nil {
			return nil, err
		}
		out.WriteString("\n]")
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
	var all map[string][2]json.RawMessage
	text, err := os.ReadFile("defaults.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("defaults.json is no JSON object: %v", err)
	}
	got, sums := rules.Defaults(), rules.Sums()
	if len(got) != len(all) {
		t.Errorf("Defaults() has %d documents, defaults.json %d", len(got), len(all))
	}
	for name, want := range all {
		if !bytes.Equal(got[name], want[1]) {
			t.Errorf("Defaults()[%q] is not the document in defaults.json", name)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, want[1]); err != nil {
			t.Fatal(err)
		}
		if sum := ruleset.DocumentDigest(compact.Bytes()); sums[name] != sum {
			t.Errorf("the digest beside %s is %s, its content has %s", name, sums[name], sum)
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
