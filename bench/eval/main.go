// Command eval measures Interlock's decisions on a folder of labelled cases and writes a table per metric and per source.
//
// A case is one JSON line {"id","source","kind","input","label","category"} in a *.jsonl or *.jsonl.gz file. Each is decided
// alone, under the default rules and the guard profile, exactly as `interlock check` decides: no history, no working
// directory, nobody's name. The decisions themselves go to a file beside the table, so that a change can be compared case
// by case. Misses and false alarms are grouped by what they came from, not by what they say: a group is a thing to mend.
//
// Start with run here; metrics.go says what is measured and wanted, cause.go what a decision came from, report.go writes.
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

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/rules"
)

type labelled struct {
	ID       string          `json:"id"`
	Source   string          `json:"source"`
	Kind     string          `json:"kind"`
	Input    json.RawMessage `json:"input"`
	Label    string          `json:"label"`
	Category string          `json:"category"`
	Verdict  string          `json:"verdict"`
	Cause    cause           `json:"cause"`
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
	r := report{cases: cases, took: time.Since(started), rules: string(evaluator.Rules.Digest())}
	if decisions != "" {
		if err := writeDecisions(decisions, cases); err != nil {
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
	known := commandTables(rules.Defaults())
	for _, file := range files {
		err := eachCase(file, func(c labelled) error {
			c.Verdict, c.Cause = decide(evaluator, known, c)
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

// decide returns the verdict and what it came from. Input that the doors would refuse is a deny.
func decide(evaluator *admission.Evaluator, known map[string]string, c labelled) (string, cause) {
	action, err := admission.ParseAction(c.Kind, c.Input, "")
	if err != nil {
		return "deny", cause{Rule: "input", Class: c.Kind}
	}
	d := evaluator.Evaluate(interlock.Proposal{Action: action, CanAsk: true}, interlock.Standing{}, time.Unix(0, 0))
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Label, c.Category, c.Verdict, k.Rule, k.Kind, k.Reach, k.Confidence, k.Class)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
