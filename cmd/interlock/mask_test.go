package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// volatile is what differs between two runs of the same session: identities, which are numbered in the order they come up, so
// that it still shows which are the same; times and sizes, which are not.
var volatile = []struct {
	name     string
	form     *regexp.Regexp
	numbered bool
}{
	{`"checkpoint":"SIGNED"`, regexp.MustCompile(`"checkpoint":"(\\.|[^"\\])*"`), false},
	{"interlock/KEY", regexp.MustCompile(`interlock/[0-9a-f]{16}(\+[0-9a-f]{8})?`), false},
	{`"user_id":"PRINCIPAL"`, regexp.MustCompile(`"user_id":"[^"]*"`), false},
	{`"principal":"PRINCIPAL"`, regexp.MustCompile(`"principal":"[^"]*"`), false},
	{`"user":"PRINCIPAL"`, regexp.MustCompile(`"user":"[^"]*"`), false},
	{`"signature":"SIGNED"`, regexp.MustCompile(`"signature":"[^"]*"`), false},
	{"TIME", regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), false},
	{"DIGEST", regexp.MustCompile(`sha256:[0-9a-f]{64}`), true},
	{"UUID", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), true},
	{"ID", regexp.MustCompile(`[0-9a-f]{64}`), true},
	{"SEED", regexp.MustCompile(`\b[0-9a-f]{32}\b`), true},
	{"ssh-ed25519 KEY", regexp.MustCompile(`ssh-ed25519 [A-Za-z0-9+/]{68}`), false},
	{"SHA256:KEY", regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}`), false},
	{"ORDER", regexp.MustCompile(`\bord_[0-9a-f]{16}`), false},
	{"RUN", regexp.MustCompile(`\b(gw|run|mcp|http|hook|apr|apv|exec|ses)_[0-9a-f]{12,32}`), true},
	{`"micros":DURATION`, regexp.MustCompile(`"micros":[0-9]+`), false},
	{`"duration_ns":DURATION`, regexp.MustCompile(`"duration_ns":[0-9]+`), false},
}

// cmdMask writes a file anew without what differs between two runs of the same session: mask FILE
func cmdMask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mask FILE")
	}
	text := ts.ReadFile(args[0])
	text = strings.NewReplacer(ts.Getenv("WORK"), "$WORK", runtime.Version(), "$GO", runtime.GOOS+"/"+runtime.GOARCH, "$SYSTEM").Replace(text)
	for _, v := range volatile {
		seen := map[string]string{}
		text = v.form.ReplaceAllStringFunc(text, func(found string) string {
			if !v.numbered {
				return v.name
			}
			if seen[found] == "" {
				seen[found] = fmt.Sprintf("%s-%d", v.name, len(seen)+1)
			}
			return seen[found]
		})
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
