package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNobodyGovernsWithoutAnOrder: no command and no door calls what changes who there is on nobody's order. The console changes
// an operator's own passkeys, by a link that an order made.
func TestNobodyGovernsWithoutAnOrder(t *testing.T) {
	unsigned := regexp.MustCompile(`\.(PutOperator|PutAgent|UpdateOperator)\(`)
	for _, dir := range []string{".", "*", "../../embedded", "../../mcpguard", "../../internal/console", "../../internal/hook",
		"../../internal/httpapi", "../../internal/mcpaql", "../../internal/mcpgateway", "../../internal/mcphttp"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s holds no files: %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range unsigned.FindAllString(string(text), -1) {
				if !strings.HasSuffix(file, "_test.go") && !(filepath.Base(dir) == "console" && call == ".UpdateOperator(") {
					t.Errorf("%s calls %s", file, call)
				}
			}
		}
	}
}
