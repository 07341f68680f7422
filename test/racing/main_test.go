package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestChosen: tests that start a goroutine, by themselves, through a helper or by what they call, and no others.
func TestChosen(t *testing.T) {
	packages, err := read(fstest.MapFS{
		"a/a.go": {Data: []byte("package a\n\nfunc Open() { go f() }\n\nfunc watch() { var w W; w.Go(f) }\n\nfunc f() {}\n")},
		"a/a_test.go": {Data: []byte("package a\n\nfunc TestItself(t T) { go f() }\n\nfunc TestHelped(t T) { helper() }\n\nfunc " +
			"TestCalls(t T) { watch() }\n")},
		"a/b_test.go": {Data: []byte("package a\n\nfunc helper() { more() }\n\nfunc more() { go f() }\n\nfunc TestAlone(t T) { " +
			"Open(); f() }\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"TestCalls", "TestHelped", "TestItself"}, packages["a"].chosen()); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
}

// TestNoPackageEscapes: one that starts goroutines and has no test that does is an error until somebody says why.
func TestNoPackageEscapes(t *testing.T) {
	if err := list(fstest.MapFS{"a/a.go": {Data: []byte("package a\n\nfunc F() { go F() }\n")}}); err == nil {
		t.Error("it was passed over")
	}
}
