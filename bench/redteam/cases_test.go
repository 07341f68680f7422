//go:build unix

package main

import (
	"os/exec"
	"testing"
)

// TestCases judges our own cases with the built programs.
func TestCases(t *testing.T) {
	binaries := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binaries, "../../cmd/interlock", "../../cmd/interlock-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	cases, err := readCases("cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	results, err := judge(binaries, cases)
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(cases, results)
	if err := wanted.met(r); err != nil {
		t.Errorf("%v\n%s%s", err, r.table(), r.misses())
	}
}
