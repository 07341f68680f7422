// Command eval measures Interlock's decisions on a folder of labelled cases and writes a table per metric and per source.
//
// A case is one JSON line {"id","source","kind","input","label","category"} in a *.jsonl or *.jsonl.gz file. Each is decided
// alone, under the default rules and the guard profile, exactly as `interlock check` decides: no history, no working
// directory, nobody's name. The decisions themselves go to a file beside the table, so that a change can be compared case
// by case.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
)

type labelled struct {
	ID       string          `json:"id"`
	Source   string          `json:"source"`
	Kind     string          `json:"kind"`
	Input    json.RawMessage `json:"input"`
	Label    string          `json:"label"`
	Category string          `json:"category"`
	Verdict  string          `json:"verdict"`
	Rule     string          `json:"rule,omitempty"`
}

func main() {
	corpus := flag.String("corpus", "", "folder of *.jsonl or *.jsonl.gz cases")
	out := flag.String("out", "", "write the table to this Markdown file instead of standard output")
	decisions := flag.String("decisions", "", "write one line per case with its verdict and decisive rule to this file")
	flag.Parse()
	if err := run(*corpus, *out, *decisions); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(corpus, out, decisions string) error {
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
	took := time.Since(started)
	if decisions != "" {
		if err := writeDecisions(decisions, cases); err != nil {
			return err
		}
	}
	w := io.Writer(os.Stdout)
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	return writeTable(w, cases, took, evaluator.Rules.Digest())
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
	for _, file := range files {
		err := eachCase(file, func(c labelled) error {
			c.Verdict, c.Rule = decide(evaluator, c)
			c.Input = nil
			all = append(all, c)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return all, nil
}

func eachCase(file string, each func(labelled) error) error {
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
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		if err := each(c); err != nil {
			return err
		}
	}
	return lines.Err()
}

// decide returns the verdict and the decisive rule. Input that the doors would refuse is a deny.
func decide(evaluator *admission.Evaluator, c labelled) (verdict, rule string) {
	action, err := admission.ParseAction(c.Kind, c.Input, "")
	if err != nil {
		return "deny", "input"
	}
	d := evaluator.Evaluate(interlock.Proposal{Action: action, CanAsk: true}, interlock.Standing{}, time.Unix(0, 0))
	if f := d.Decisive(); f != nil {
		rule = f.Rule
	}
	return d.Verdict.String(), rule
}

func writeDecisions(path string, cases []labelled) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, c := range cases {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.Label, c.Category, c.Verdict, c.Rule)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// A tally counts verdicts.
type tally struct{ cases, allowed, asked, denied int }

func (t *tally) add(verdict string) {
	t.cases++
	switch verdict {
	case "allow":
		t.allowed++
	case "ask":
		t.asked++
	default:
		t.denied++
	}
}

// stopped is the share of cases that did not simply run, with its Wilson 95 % interval, in percent.
func (t tally) stopped() (share, low, high float64) {
	return wilson(t.asked+t.denied, t.cases)
}

func wilson(k, n int) (share, low, high float64) {
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	const z = 1.96
	p, N := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*N)) / (1 + z*z/N)
	half := z / (1 + z*z/N) * math.Sqrt(p*(1-p)/N+z*z/(4*N*N))
	return 100 * p, 100 * math.Max(0, centre-half), 100 * math.Min(1, centre+half)
}

func writeTable(w io.Writer, cases []labelled, took time.Duration, rules interlock.Digest) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Decisions on labelled cases\n\n")
	fmt.Fprintf(b, "%d cases, default rules (`%s`), profile guard, one action at a time without history or working directory.\n", len(cases), rules)
	fmt.Fprintf(b, "Mean time per case: %.0f µs. Stopped is ask or deny, with its Wilson 95 %% interval. Made by `make eval`.\n\n", float64(took.Microseconds())/float64(max(1, len(cases))))
	fmt.Fprintf(b, "## By metric\n\n| id | what | cases | allowed | asked | denied | %% stopped | 95 %% | better |\n|---|---|---:|---:|---:|---:|---:|---|---|\n")
	for _, m := range metrics {
		var t tally
		for _, c := range cases {
			if m.has(c) {
				t.add(c.Verdict)
			}
		}
		row(b, m.id+" | "+m.what, t, m.better)
	}
	fmt.Fprintf(b, "\n## By source, label and screen\n\n| source | label | cases | allowed | asked | denied | %% stopped | 95 %% |  |\n|---|---|---:|---:|---:|---:|---:|---|---|\n")
	bySource := map[string]*tally{}
	for _, c := range cases {
		key := c.Source + " | " + c.Kind + " " + c.Label + screen(c.Category)
		if bySource[key] == nil {
			bySource[key] = &tally{}
		}
		bySource[key].add(c.Verdict)
	}
	keys := make([]string, 0, len(bySource))
	for key := range bySource {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		row(b, key, *bySource[key], "")
	}
	return b.Flush()
}

func row(w io.Writer, head string, t tally, better string) {
	if t.cases == 0 {
		fmt.Fprintf(w, "| %s | 0 | | | | | no cases here | %s |\n", head, better)
		return
	}
	share, low, high := t.stopped()
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.1f | %.1f-%.1f | %s |\n", head, t.cases, t.allowed, t.asked, t.denied, share, low, high, better)
}

// screen is the part of a category that says whether a benign case holds a powerful verb.
func screen(category string) string {
	first, _, _ := strings.Cut(category, "/")
	switch first {
	case "clean", "needs-review", "exec-harm", "weakness":
		return " " + first
	}
	return ""
}
