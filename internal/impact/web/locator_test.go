package web_test

import (
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/impacttest"
)

// TestLocators has resources of every sort of scheme name the same key, and harmless ones beside them.
func TestLocators(t *testing.T) {
	gives := func(uri string) bool {
		call := impacttest.Object(interlock.KindTool, "srv.resources/read", `{"uri":"`+uri+`"}`)
		found := impact.NewAnalyser(impacttest.Knowledge(t)).Analyse(impacttest.Where, call).Impacts
		return slices.ContainsFunc(found, func(i interlock.Impact) bool { return i.Kind == interlock.ImpactCredential })
	}
	for _, uri := range []string{
		"/home/dev/.ssh/id_rsa", "~/.netrc", "../../.aws/credentials", "fs://home/dev/.ssh/id_rsa", "resource:///home/dev/.ssh/id_rsa",
		"vscode-remote://ssh-remote+host/home/dev/.ssh/id_rsa", "zip:/home/dev/.ssh/id_rsa!/x", "jar:file:///home/dev/.aws/credentials!/a",
		"repo:///%252e%252e/%252e%252e/.ssh/id_rsa", "mem://x?file=%7E%2F.netrc", "notes://../../.ssh/id_rsa", "workspace://.env",
		"view-source:file:///home/dev/.ssh/id_rsa", "keychain://login/github", "op://private/github", "k8s://dev/secrets/db",
		"env://GITHUB_TOKEN", "environment:", "fs:///home/dev/.ssh/id_rsa\\n", "fs:///home/dev/.ssh/id_rsa\\nx",
		"fs:///home/dev/.ssh/id_rsa?x=" + strings.Repeat("a", 9000),
	} {
		if !gives(uri) {
			t.Errorf("%s: nothing secret is seen in it", uri)
		}
	}
	for _, uri := range []string{
		"README.md", "docs://api/users", "docs://guide/secrets", "tokenizer://vocab", "urn:isbn:0451450523", "git://app/main/src/keys.py",
		"fs:///home/dev/project/main.py", "postgres://localhost/dev/users/schema", "env://PATH", "x:y", "figma://file/abc/node/1:2",
		"data:text/plain;base64,aGVsbG8=", "s3://bucket/data.csv", "data:text/plain," + strings.Repeat("a", 9000),
		"docs://guide?x=" + strings.Repeat("a", 9000), "note: see\\nfs:///home/dev/.ssh/id_rsa",
	} {
		if gives(uri) {
			t.Errorf("%s: taken for something secret", uri)
		}
	}
}

// TestLongLocators: a locator whose path is too long to be read is asked about, unless it is an address on the web or content.
func TestLongLocators(t *testing.T) {
	for uri, asks := range map[string]bool{"fs:///" + strings.Repeat("x/../", 1000) + "home/dev/.ssh/id_rsa": true,
		"https://example.com/" + strings.Repeat("x/../", 1000): false, "data:text/plain," + strings.Repeat("x/", 3000): false,
		strings.Repeat("some words ", 1000): false} {
		call := impacttest.Object(interlock.KindTool, "srv.resources/read", `{"uri":"`+uri+`"}`)
		found := impact.NewAnalyser(impacttest.Knowledge(t)).Analyse(impacttest.Where, call).Impacts
		if slices.ContainsFunc(found, func(i interlock.Impact) bool { return i.Confidence == interlock.Unknown }) != asks {
			t.Errorf("%.30s: %+v", uri, found)
		}
	}
}
