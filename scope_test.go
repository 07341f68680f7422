package interlock_test

import (
	"encoding/json"
	"testing"

	"interlock"
)

func TestFitsWord(t *testing.T) {
	for _, tc := range []struct {
		pattern, word string
		fits          bool
	}{
		{"feature", "feature", true},
		{"feature", "Feature", false},
		{"feature", "feature2", false},
		{"feature/*", "feature/retry", true},
		{"feature/*", "feature/", false},
		{"feature/*", "feature/a/b", false},
		{"feature/*", "feature/..", false},
		{"feature/*", "feature/.", false},
		{"feature/*", "feature/...", true},
		{"./build/*", "./build/x", true},
		{"./build/*", "./build/../x", false},
		{"../build/*", "../build/x", true},
		{"*", "retry", true},
		{"*", "", false},
		{"*", "-f", false},
		{"*", "--force", false},
		{"*", "a b", false},
		{"*", "a:b", false},
		{"*", "+main", false},
		{"*", "@file", false},
		{"*", "a;b", false},
		{"*", "$HOME", false},
		{"*", "*", false},
		{"*", "é", false},
		{"*", "a\nb", false},
		{"--tag=*", "--tag=1.2.3", true},
		{"--tag=*", "--tag=a=b", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "abc", false},
		{"a*b*c", "aXbYbZ", false},
		{"v*.*.*", "v1.2.3", true},
		{"", "", true},
		{"", "x", false},
	} {
		if got := interlock.FitsWord(tc.pattern, tc.word); got != tc.fits {
			t.Errorf("%q fits %q: %v", tc.word, tc.pattern, got)
		}
	}
}

func TestScopesThatSayTooLittleAreRefused(t *testing.T) {
	words := func(w ...string) interlock.Scope { return interlock.Scope{Dir: "/repo", Words: w} }
	object := func(text string) interlock.Scope {
		return interlock.Scope{Dir: "/repo", Arguments: json.RawMessage(text)}
	}
	for name, tc := range map[string]struct {
		scope interlock.Scope
		kind  interlock.Kind
		ok    bool
	}{
		"a command":                 {words("git", "push", "--force", "origin", "feature/*"), interlock.KindShell, true},
		"a program alone":           {words("make"), interlock.KindShell, true},
		"no words":                  {words(), interlock.KindShell, false},
		"any program":               {words("*"), interlock.KindShell, false},
		"a part of a program":       {words("git*", "push"), interlock.KindShell, false},
		"anything a program does":   {words("git", "*"), interlock.KindShell, false},
		"two of anything":           {words("git", "*", "*"), interlock.KindShell, false},
		"any option":                {words("git", "push", "-*"), interlock.KindShell, false},
		"any long option":           {words("git", "push", "--*"), interlock.KindShell, false},
		"a line end":                {words("git", "push\nrm"), interlock.KindShell, false},
		"text for a shell":          {interlock.Scope{Dir: "/repo", Text: "git push"}, interlock.KindShell, false},
		"everywhere":                {interlock.Scope{Dir: "/", Words: []string{"make"}}, interlock.KindShell, false},
		"everywhere on a drive":     {interlock.Scope{Dir: `C:\`, Words: []string{"make"}}, interlock.KindShell, false},
		"nowhere":                   {interlock.Scope{Words: []string{"make"}}, interlock.KindShell, false},
		"somewhere":                 {interlock.Scope{Dir: "repo", Words: []string{"make"}}, interlock.KindShell, false},
		"above":                     {interlock.Scope{Dir: "/repo/..", Words: []string{"make"}}, interlock.KindShell, false},
		"a statement":               {interlock.Scope{Dir: "/repo", Text: "DROP TABLE t"}, interlock.KindSQL, true},
		"no statement":              {interlock.Scope{Dir: "/repo"}, interlock.KindSQL, false},
		"what an agent says":        {interlock.Scope{Dir: "/repo", Text: "I push"}, interlock.KindHint, false},
		"a call":                    {object(`{"to":"a@example.com","n":1}`), interlock.KindTool, true},
		"a call with anything":      {object(`{"to":"*"}`), interlock.KindTool, false},
		"a call with no object":     {object(`[1]`), interlock.KindTool, false},
		"a call with nothing":       {object(`{}`), interlock.KindTool, false},
		"a file":                    {object(`{"path":"/repo/a.txt"}`), interlock.KindFile, true},
		"a file with its content":   {object(`{"path":"/repo/a.txt","content":"x"}`), interlock.KindFile, false},
		"a file that is not named":  {object(`{"content":"x"}`), interlock.KindFile, false},
		"a kind that nobody knows":  {words("make"), "magic", false},
		"words for a call":          {words("make"), interlock.KindTool, false},
		"a command and a text also": {interlock.Scope{Dir: "/repo", Words: []string{"make"}, Text: "x"}, interlock.KindShell, false},
	} {
		if err := tc.scope.Check(tc.kind); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScopesCoverLikeActionsAndNoOthers(t *testing.T) {
	tool := interlock.Scope{Dir: "/repo", Arguments: json.RawMessage(`{"branch":"feature/*","force":true}`)}
	file := interlock.Scope{Dir: "/repo", Arguments: json.RawMessage(`{"path":"/repo/gen/*"}`)}
	shell := interlock.Scope{Dir: "/repo", Words: []string{"git", "push", "*"}}
	text := interlock.Scope{Dir: "/repo", Text: "DROP TABLE t"}
	action := func(kind interlock.Kind, dir, input string) interlock.Action {
		a := interlock.Action{Kind: kind, Dir: dir, Input: input}
		if kind.TakesObject() {
			a.Input, a.Arguments = "", json.RawMessage(input)
		}
		return a
	}
	for name, tc := range map[string]struct {
		scope  interlock.Scope
		action interlock.Action
		words  []string
		covers bool
	}{
		"the call":               {tool, action(interlock.KindTool, "/repo", `{"branch":"feature/x","force":true}`), nil, true},
		"another value":          {tool, action(interlock.KindTool, "/repo", `{"branch":"feature/x","force":false}`), nil, false},
		"another type":           {tool, action(interlock.KindTool, "/repo", `{"branch":["feature/x"],"force":true}`), nil, false},
		"one more argument":      {tool, action(interlock.KindTool, "/repo", `{"all":true,"branch":"feature/x","force":true}`), nil, false},
		"one less":               {tool, action(interlock.KindTool, "/repo", `{"branch":"feature/x"}`), nil, false},
		"another argument":       {tool, action(interlock.KindTool, "/repo", `{"branch":"feature/x","farce":true}`), nil, false},
		"a file, any content":    {file, action(interlock.KindFile, "/repo", `{"content":"x","path":"/repo/gen/a.go"}`), nil, true},
		"a file above":           {file, action(interlock.KindFile, "/repo", `{"path":"/repo/gen/.."}`), nil, false},
		"a command":              {shell, action(interlock.KindShell, "/repo/sub", "git push x"), []string{"git", "push", "x"}, true},
		"a command that is more": {shell, action(interlock.KindShell, "/repo", "git push x; rm y"), nil, false},
		"one more word":          {shell, action(interlock.KindShell, "/repo", "git push x y"), []string{"git", "push", "x", "y"}, false},
		"another project":        {shell, action(interlock.KindShell, "/repository", "git push x"), []string{"git", "push", "x"}, false},
		"out of the project":     {shell, action(interlock.KindShell, "/repo/../other", "git push x"), []string{"git", "push", "x"}, false},
		"nowhere":                {shell, action(interlock.KindShell, "", "git push x"), []string{"git", "push", "x"}, false},
		"the text":               {text, action(interlock.KindSQL, "/repo", "DROP TABLE t"), nil, true},
		"more text":              {text, action(interlock.KindSQL, "/repo", "DROP TABLE t; DROP TABLE u"), nil, false},
	} {
		if got := tc.scope.Covers(tc.action, tc.words); got != tc.covers {
			t.Errorf("%s: %v", name, got)
		}
	}
}
