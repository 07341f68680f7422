// Command mutants asks whether the tests would notice: it has a mutation tester break the code that decides, one operator at a
// time, runs the tests of the package that owns it, and names each break that no test saw.
//
// The breaking is gremlins' (github.com/go-gremlins/gremlins); decision 35 says why. What is here is round it:
//
//   - it runs in a copy of the working tree, so that nothing it breaks can be committed or built by anybody;
//   - of the large packages it breaks the lines of a sample. A line is in it by a hash of its own text and not by its number, so
//     that a sample stays the same while code around it moves (sample.go);
//   - a break that does not compile is no break: gremlins would count it as noticed (compiler.go);
//   - what survived is held against survivors.tsv, which has a sentence for each survivor that stays (survivor.go).
//
// It fails below 90 percent in any package and at any survivor without a sentence, and writes the table of README.md again.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

const (
	folder = "bench/mutants"
	least  = 90.0 // percent of the breaks that the tests must notice, in every package
)

// A target is a package whose tests are tried.
type target struct {
	dir      string        // from the module's root
	percent  int           // of its lines that are broken
	files    []string      // that are broken; none: all
	within   time.Duration // after which it ends with what it has
	patience time.Duration // for its tests with one break, many times what they take
}

// targets are the packages that decide, that bind a yes to what was said yes to, that count, and that keep the log; of the gateway, the files
// through which a call goes from its arrival to its answer.
func targets() []target {
	return []target{
		{dir: "internal/meter", percent: 100, within: 10 * time.Minute, patience: 20 * time.Second},
		{dir: "internal/quorum", percent: 100, within: 30 * time.Minute, patience: 20 * time.Second},
		{dir: "internal/gate", percent: 100, within: 60 * time.Minute, patience: 20 * time.Second},
		{dir: "internal/engine", percent: 100, within: 45 * time.Minute, patience: 60 * time.Second},
		{dir: "internal/auditlog", percent: 20, within: 30 * time.Minute, patience: 40 * time.Second},
		{dir: "internal/mcpaql", percent: 20, within: 30 * time.Minute, patience: 40 * time.Second},
		{dir: "internal/admission", percent: 8, within: 60 * time.Minute, patience: 150 * time.Second},
		{dir: "internal/mcpgateway", percent: 25, within: 60 * time.Minute, patience: 150 * time.Second, files: []string{
			"call.go", "dispatch.go", "held.go", "heldround.go", "onward.go", "outcome.go", "proposal.go", "reason.go",
			"refusal.go", "request.go", "requeststate.go"}},
	}
}

func main() {
	if name := filepath.Base(os.Args[0]); name == "go" || name == "go.exe" {
		os.Exit(compile(os.Args[1:]))
	}
	var o options
	flag.StringVar(&o.gremlins, "gremlins", "gremlins", "the program of that name")
	flag.StringVar(&o.only, "pkg", "", "this package only, such as ./internal/quorum")
	flag.IntVar(&o.percent, "percent", 0, "break this part of the lines instead of the package's own")
	flag.StringVar(&o.seed, "seed", "1", "draws another sample")
	flag.BoolVar(&o.again, "again", false, "break only what survived the last time, and add the rest from then")
	flag.BoolVar(&o.verbose, "v", false, "name also what no test reaches and what ran out of time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	gremlins, only, seed string
	percent              int
	verbose, again       bool
}

// kept says whether the run was of the sample that the table of README.md is about. A smaller one is a part of a larger one.
func (o options) kept() bool { return o.seed == "1" }

func run(ctx context.Context, o options) error {
	gremlins, err := filepath.Abs(o.gremlins)
	if err != nil {
		return err
	}
	known, err := readSurvivors(filepath.Join(folder, "survivors.tsv"))
	if err != nil {
		return err
	}
	chosen, err := choose(targets(), o)
	if err != nil {
		return err
	}
	var wrong []string
	for _, t := range chosen {
		r, found, err := try(ctx, gremlins, t, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.dir, err)
		}
		wrong = append(wrong, say(os.Stdout, r, found, known, o.verbose)...)
		if o.kept() && r.whole {
			if err := keep(folder, r); err != nil {
				return err
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// try breaks a package, and remembers what became of it for a run that looks at the survivors again.
func try(ctx context.Context, gremlins string, t target, o options) (result, []found, error) {
	memory := filepath.Join("bin", "mutants", strings.ReplaceAll(t.dir, "/", "-")+".tsv")
	pick := sampler(t.percent, o.seed)
	var before result
	var survived []found
	if o.again {
		var err error
		if before, survived, err = recall(memory); err != nil {
			return result{}, nil, fmt.Errorf("nothing is known of a run before this: %w", err)
		}
		if t.percent, pick, err = before.percent, only(t.dir, survived), nil; len(survived) == 0 {
			return before, nil, nil
		}
	}
	all, whole, err := unleash(ctx, gremlins, t, pick)
	if err != nil {
		return result{}, nil, err
	}
	r := resultOf(t, all, whole)
	if o.again {
		r = before.with(survived, all, whole)
	}
	if !o.kept() {
		return r, all, nil
	}
	return r, all, remember(memory, r, all)
}

// choose picks the package that was asked for, or all.
func choose(all []target, o options) ([]target, error) {
	var chosen []target
	for _, t := range all {
		if o.percent > 0 {
			t.percent = o.percent
		}
		if o.only == "" || filepath.ToSlash(filepath.Clean(o.only)) == t.dir {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		var names []string
		for _, t := range all {
			names = append(names, "./"+t.dir)
		}
		return nil, fmt.Errorf("%s is none of %s", o.only, strings.Join(names, ", "))
	}
	return chosen, nil
}
