package web_test

import (
	"slices"
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
		"env://GITHUB_TOKEN", "environment:",
	} {
		if !gives(uri) {
			t.Errorf("%s: nothing secret is seen in it", uri)
		}
	}
	for _, uri := range []string{
		"README.md", "docs://api/users", "docs://guide/secrets", "tokenizer://vocab", "urn:isbn:0451450523", "git://app/main/src/keys.py",
		"fs:///home/dev/project/main.py", "postgres://localhost/dev/users/schema", "env://PATH", "x:y", "figma://file/abc/node/1:2",
		"data:text/plain;base64,aGVsbG8=", "s3://bucket/data.csv",
	} {
		if gives(uri) {
			t.Errorf("%s: taken for something secret", uri)
		}
	}
}
