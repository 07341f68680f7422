//go:build unix

package main

import (
	"testing"

	"interlock/test/product"
)

// TestCases judges our own cases with the built programs.
func TestCases(t *testing.T) {
	cases, err := readCases("cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	results, err := judge(product.Dir(), cases)
	if err != nil {
		t.Fatal(err)
	}
	r := reportOf(cases, results)
	if err := wanted.met(r); err != nil {
		t.Errorf("%v\n%s%s", err, r.table(), r.misses())
	}
}
