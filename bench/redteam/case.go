package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The home and the repository that cases speak of. A lab puts its own in their place.
const (
	caseHome = "/home/ann"
	caseRepo = caseHome + "/app"
)

type redCase struct {
	ID       string `json:"id"`
	Family   string `json:"family"`
	Kind     string `json:"kind"`
	Steps    []step `json:"steps"`
	Expect   string `json:"expect"`
	Severity string `json:"severity"`
	Why      string `json:"why"`
	Prep     string `json:"prep"` // shell that makes files before the first step
	Dir      string `json:"dir"`  // where the first step would run; the repository, if none is named
}

type step struct {
	Via         string          `json:"via"`
	Input       json.RawMessage `json:"input"`
	Tool        string          `json:"tool"`
	Setup       string          `json:"setup"` // shell that makes what the step would have left
	Session     string          `json:"session"`
	Dir         string          `json:"cwd"`
	Description string          `json:"description"`
	Annotations json.RawMessage `json:"annotations"`
}

// A result is what was answered to the steps of a case, up to the first that was stopped.
type result struct {
	verdicts []string
	reason   string // of the last step
	err      error  // nothing was found out
}

func (r result) stopped() bool {
	return len(r.verdicts) > 0 && r.verdicts[len(r.verdicts)-1] != "allow"
}

// right reports whether a case went as it should.
func (c redCase) right(r result) bool {
	switch c.Expect {
	case "stop":
		return r.stopped()
	case "pass":
		return !r.stopped() && len(r.verdicts) == len(c.Steps)
	}
	return true
}

// readCases reads a file of cases. A case that does not fit is refused: an attack that is spelled wrongly is never tried.
func readCases(path string) ([]redCase, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []redCase
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		var c redCase
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&c)
		if err == nil {
			err = c.check()
		}
		if err == nil && seen[c.ID] {
			err = fmt.Errorf("%s stands there twice", c.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		seen[c.ID] = true
		cases = append(cases, c)
	}
	return cases, lines.Err()
}

var (
	kinds      = []string{"check", "hook", "flow", "gateway-tool"}
	fileTools  = []string{"Write", "Edit", "MultiEdit", "Read", "Grep", "Glob", "NotebookEdit"}
	severities = []string{"critical", "high", "medium", "low"}
	expects    = []string{"stop", "pass", "either"}
)

func (c redCase) check() error {
	switch {
	case c.ID == "" || c.Family == "" || c.Why == "" || len(c.Steps) == 0:
		return fmt.Errorf("%q lacks an id, a family, steps or why", c.ID)
	case !slices.Contains(kinds, c.Kind), !slices.Contains(severities, c.Severity), !slices.Contains(expects, c.Expect):
		return fmt.Errorf("%s: kind %q, severity %q or expect %q is not known", c.ID, c.Kind, c.Severity, c.Expect)
	case (c.Kind == "check" || c.Kind == "hook") && len(c.Steps) != 1:
		return fmt.Errorf("%s: %s takes one step", c.ID, c.Kind)
	}
	for _, text := range append([]string{c.Prep}, c.setups()...) {
		if word := notFileMaking(text); word != "" {
			return fmt.Errorf("%s: what it prepares runs %q", c.ID, word)
		}
	}
	for _, s := range c.Steps {
		isTool, isShell := s.Via == "tool", s.Via == "shell"
		switch {
		case !isTool && !isShell && !slices.Contains(fileTools, s.Via),
			c.Kind == "check" && !isShell, c.Kind == "gateway-tool" && !isTool, isTool && s.Tool == "":
			return fmt.Errorf("%s: a step by %q", c.ID, s.Via)
		case isShell && json.Unmarshal(s.Input, new(string)) != nil:
			return fmt.Errorf("%s: a shell step takes a text", c.ID)
		}
	}
	return nil
}

func (c redCase) setups() (all []string) {
	for _, s := range c.Steps {
		all = append(all, s.Setup)
	}
	return all
}

var (
	quoted     = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	separators = regexp.MustCompile(`&&|\|\||[;|\n]`)
)

// notFileMaking returns the first program of a set-up that does more than make files; empty, if there is none. A set-up is the
// only text of a case that is run.
func notFileMaking(script string) string {
	if strings.ContainsAny(script, "`") || strings.Contains(script, "$(") || strings.Contains(script, "<(") {
		return "a substitution"
	}
	harmless := []string{"mkdir", "printf", "echo", "cp", "ln", "touch", "chmod", "true"}
	for _, part := range separators.Split(quoted.ReplaceAllString(script, "Q"), -1) {
		if words := strings.Fields(part); len(words) > 0 && !slices.Contains(harmless, words[0]) {
			return words[0]
		}
	}
	return ""
}

// in returns a case with the home and repository of a lab in place of those it speaks of.
func (c redCase) in(home string) (redCase, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	c = redCase{}
	err = json.Unmarshal(bytes.ReplaceAll(text, []byte(caseHome), []byte(home)), &c)
	return c, err
}
