// Command eval measures Interlock's decisions on a folder of labelled cases and writes a table per metric and per source.
//
// A case is one JSON line {"id","source","kind","input","label","category"} in a *.jsonl or *.jsonl.gz file. Each is decided
// alone, under the default rules and the guard profile, exactly as `interlock check` decides: no history, no working
// directory, nobody's name. Whole runs are judged besides, with what came before each step. The decisions themselves
// go to a file beside the table, so that a change can be compared case by case. Misses and false alarms are grouped
// by what they came from, not by what they say: a group is a thing to mend.
//
// Start with run here; metrics.go says what is measured and wanted, trajectory.go judges runs, attacks.go
// takes in the red team's table, cause.go what a decision came from, report.go writes.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/rules"
)

type labelled struct {
	ID       string          `json:"id"`
	Source   string          `json:"source"`
	Kind     string          `json:"kind"`
	Input    json.RawMessage `json:"input"`
	Label    string          `json:"label"`
	Category string          `json:"category"`
	Verb     string          `json:"verb,omitempty"` // the first word of a statement
	Verdict  string          `json:"verdict"`
	Cause    cause           `json:"cause"`

	// Of texts: what the classifier says, told as a verdict, and whether it found personal data or a credential.
	Classified string `json:"classified,omitempty"`
	Personal   string `json:"personal,omitempty"`
	Secret     string `json:"secret,omitempty"`
}

func main() {
	corpus := flag.String("corpus", "", "folder of *.jsonl or *.jsonl.gz cases")
	out := flag.String("out", "", "write the table to this Markdown file instead of standard output")
	trajectories := flag.String("trajectories", "", "folder of *.jsonl.gz runs, each judged from its beginning to its end")
	attacks := flag.String("redteam", "", "what the runner of the red team wrote with --json")
	decisions := flag.String("decisions", "", "write one line per case with its verdict and decisive rule to this file")
	flag.Parse()
	if err := run(*corpus, *trajectories, *attacks, *out, *decisions); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(corpus, trajectories, attacks, out, decisions string) error {
	files, err := caseFiles(corpus)
	if err != nil {
		return err
	}
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		return err
	}
	started := time.Now()
	cases, err := decideAll(files, evaluator)
	if err != nil {
		return err
	}
	r := report{cases: cases, took: time.Since(started), alone: len(cases), rules: string(evaluator.Rules.Digest())}
	if trajectories != "" {
		steps, err := decideRuns(trajectories, evaluator)
		if err != nil {
			return err
		}
		r.cases = append(r.cases, steps...)
	}
	if attacks != "" {
		if r.attacks, err = readAttacks(attacks); err != nil {
			return err
		}
	}
	if decisions != "" {
		if err := writeDecisions(decisions, r.cases); err != nil {
			return err
		}
	}
	if out == "" {
		return r.write(os.Stdout)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := r.write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return r.scorecard(os.Stdout)
}

// caseFiles lists the case files of a folder, or says plainly what is missing.
func caseFiles(corpus string) ([]string, error) {
	if corpus == "" {
		return nil, fmt.Errorf("-corpus is missing; name a folder of labelled cases")
	}
	var files []string
	for _, pattern := range []string{"*.jsonl", "*.jsonl.gz"} {
		found, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no *.jsonl or *.jsonl.gz cases in that folder")
	}
	sort.Strings(files)
	return files, nil
}

func decideAll(files []string, evaluator *admission.Evaluator) ([]labelled, error) {
	var all []labelled
	safety, err := classify.Parse(rules.Defaults()["safety.yaml"])
	if err != nil {
		return nil, err
	}
	known := commandTables(rules.Defaults())
	said, terminal := time.Now(), term.IsTerminal(int(os.Stderr.Fd()))
	for n, file := range files {
		err := eachCase(file, func(c labelled) error {
			c.Verdict, c.Cause = decide(evaluator, known, c)
			c.classify(safety)
			c.Verb, c.Input = verb(c), nil
			all = append(all, c)
			if len(all)%64 == 0 && terminal && time.Since(said) > time.Second {
				said = time.Now()
				fmt.Fprintf(os.Stderr, "\rdeciding: %d cases, file %d of %d\x1b[K", len(all), n+1, len(files))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	if terminal {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	return all, nil
}

// eachCase reads a file row by row.
func eachCase[T any](file string, each func(T) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return lines.Err()
}

// verb is the first word of an SQL statement, in capitals.
func verb(c labelled) string {
	var text string
	if c.Kind != string(interlock.KindSQL) || json.Unmarshal(c.Input, &text) != nil {
		return ""
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	if len(words) == 0 {
		return ""
	}
	return strings.ToUpper(words[0])
}

// decide returns the verdict and what it came from. Input that the doors would refuse is a deny.
func decide(evaluator *admission.Evaluator, known map[string]string, c labelled) (string, cause) {
	action, err := admission.ParseAction(c.Kind, c.Input, "")
	if err != nil {
		return "deny", cause{Rule: "input", Class: c.Kind}
	}
	d := admission.Evaluate(evaluator, admission.Case{Proposal: interlock.Proposal{Action: action, CanAsk: true}}, ledger.Standing{},
		time.Unix(0, 0))
	return d.Verdict.String(), causeOf(d, action, known)
}

func writeDecisions(path string, cases []labelled) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, c := range cases {
		k := c.Cause
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Label, c.Category, c.Verdict, k.Rule, k.Kind, k.Reach,
			k.Confidence, k.Class)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
