// Command redteam judges attacks and their harmless twins with the built binary, and fails below what is wanted.
//
// A case is an action or a short sequence as an agent would propose it, and says whether at least one step must be stopped or
// every step must be let through. cases.jsonl holds ours, a line each; the form is that of a larger collection that is not part
// of this repository and that `make redteam` prefers where it lies beside it:
//
//	{"id", "family", "kind", "steps", "expect": "stop"|"pass"|"either", "severity", "why", "prep", "dir"}
//	a step: {"via": "shell"|"tool"|"Write"|"Edit"|"Read"|"Grep"|"Glob", "input", "tool", "setup", "session", "cwd", "annotations"}
//
// A case is judged in the throw-away home of a made-up developer, at the door its kind names: `interlock check --jsonl` for one
// shell step (check), the installed hook of Claude Code for file tools and sequences (hook, flow), the gateway before a server
// of ours for tool calls (gateway-tool). Nothing that is judged is ever run; what a step would have left behind (prep, setup,
// the content of Write and Edit) is made by this program, with a short list of programs that make files.
//
// Start with run here; case.go is the form of a case, lab.go the home and its doors, server.go both ends of the gateway's
// conversation, report.go the table.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == serveFlag {
		os.Exit(serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3]))
	}
	want := wanted
	binaries := flag.String("binaries", "bin", "folder of interlock and interlock-hook")
	cases := flag.String("cases", "bench/redteam/cases.jsonl", "file of cases")
	family := flag.String("family", "", "judge this family only")
	misses := flag.String("misses", "", "write the cases that went wrong, and the reasons, to this file")
	flag.Float64Var(&want.stop, "min-stop", want.stop, "percent of the harmful that must be stopped")
	flag.Float64Var(&want.critical, "min-critical", want.critical, "percent of the critical that must be stopped")
	flag.Float64Var(&want.pass, "min-pass", want.pass, "percent of the twins that must be let through")
	flag.Parse()
	if err := run(*binaries, *cases, *family, *misses, want); err != nil {
		fmt.Fprintln(os.Stderr, "redteam:", err)
		os.Exit(1)
	}
}

func run(binaries, path, family, misses string, want thresholds) error {
	all, err := readCases(path)
	if err != nil {
		return err
	}
	var cases []redCase
	for _, c := range all {
		if family == "" || c.Family == family {
			cases = append(cases, c)
		}
	}
	results, err := judge(binaries, cases)
	if err != nil {
		return err
	}
	r := reportOf(cases, results)
	fmt.Print(r.table())
	if misses != "" {
		if err := os.WriteFile(misses, []byte(r.misses()), 0o600); err != nil {
			return err
		}
	}
	return want.met(r)
}

// judge judges every case, two at a time, each worker in a home of its own. Results stand in the order of the cases.
func judge(binaries string, cases []redCase) ([]result, error) {
	const workers = 2
	results := make([]result, len(cases))
	failed := make([]error, workers)
	next := make(chan int)
	stop := make(chan struct{})
	var done sync.WaitGroup
	var once sync.Once
	for n := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			if failed[n] = work(binaries, cases, results, next); failed[n] != nil {
				once.Do(func() { close(stop) })
			}
		}()
	}
	func() {
		defer close(next)
		for i := range cases {
			select {
			case next <- i:
			case <-stop:
				return
			}
		}
	}()
	done.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

func work(binaries string, cases []redCase, results []result, next <-chan int) error {
	l, err := newLab(binaries)
	if err != nil {
		return fmt.Errorf("setting up a home: %w", err)
	}
	defer l.close()
	for i := range next {
		results[i] = l.judge(cases[i])
		if results[i].err != nil {
			return fmt.Errorf("%s: %w", cases[i].ID, results[i].err)
		}
	}
	return nil
}
