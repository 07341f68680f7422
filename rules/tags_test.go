package rules_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// owasp are the entries of the two lists a rule's tags may name: the agentic top ten of 2026 and the one for applications
// with language models of 2025.
var owasp = []struct{ tag, title string }{
	{"ASI01", "Agent goal hijack"}, {"ASI02", "Tool misuse and exploitation"}, {"ASI03", "Identity and privilege abuse"},
	{"ASI04", "Agentic supply chain vulnerabilities"}, {"ASI05", "Unexpected code execution"}, {"ASI06", "Memory and context poisoning"},
	{"ASI07", "Insecure inter-agent communication"}, {"ASI08", "Cascading failures"}, {"ASI09", "Human-agent trust exploitation"},
	{"ASI10", "Rogue agents"},
	{"LLM01", "Prompt injection"}, {"LLM02", "Sensitive information disclosure"}, {"LLM03", "Supply chain"},
	{"LLM04", "Data and model poisoning"}, {"LLM05", "Improper output handling"}, {"LLM06", "Excessive agency"},
	{"LLM07", "System prompt leakage"}, {"LLM08", "Vector and embedding weaknesses"}, {"LLM09", "Misinformation"},
	{"LLM10", "Unbounded consumption"},
}

var technique = regexp.MustCompile(`^T[0-9]{4}(\.[0-9]{3})?$`)

// taggedRules returns the tags of every default rule by its id, as the YAML documents stand.
func taggedRules(t *testing.T) map[string][]string {
	t.Helper()
	text, err := bundle(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string][2]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for name, document := range documents {
		if filepath.Dir(name) != "." {
			continue // knowledge of commands, and profiles
		}
		var d struct {
			Rules []struct {
				ID   string   `json:"id"`
				Tags []string `json:"tags"`
			} `json:"rules"`
		}
		if err := json.Unmarshal(document[1], &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range d.Rules {
			all[r.ID] = r.Tags
		}
	}
	return all
}

// TestEveryRuleIsTagged: each default says which entry of the OWASP lists and which ATT&CK technique it is about.
func TestEveryRuleIsTagged(t *testing.T) {
	listed := func(tag string) bool {
		return slices.ContainsFunc(owasp, func(entry struct{ tag, title string }) bool { return entry.tag == tag })
	}
	for id, tags := range taggedRules(t) {
		for _, tag := range tags {
			if !listed(tag) && !technique.MatchString(tag) {
				t.Errorf("%s: %s is no entry of an OWASP list and no ATT&CK technique", id, tag)
			}
		}
		if !slices.ContainsFunc(tags, listed) {
			t.Errorf("%s: name the OWASP entry it is about, e.g. ASI02", id)
		}
	}
}

// TestTagsPageIsFresh writes docs/reference/rule-tags.md or holds it against the rules.
func TestTagsPageIsFresh(t *testing.T) {
	all := taggedRules(t)
	byTag := map[string][]string{}
	for id, tags := range all {
		for _, tag := range tags {
			byTag[tag] = append(byTag[tag], id)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Generated from the rules by: go generate ./rules -->\n# Rules by tag\n\nWhat the %d default rules "+
		"are about.\n\n"+
		"## OWASP top ten for agentic applications and for LLM applications\n\n| entry | title | rules |\n|---|---|---|\n", len(all))
	list := func(tag string) string {
		ids := byTag[tag]
		sort.Strings(ids)
		if len(ids) == 0 {
			return "no rule; not about a single action"
		}
		return "`" + strings.Join(ids, "`, `") + "`"
	}
	for _, entry := range owasp {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", entry.tag, entry.title, list(entry.tag))
	}
	fmt.Fprintf(&b, "\n## MITRE ATT&CK techniques\n\n| technique | rules |\n|---|---|\n")
	var techniques []string
	for tag := range byTag {
		if technique.MatchString(tag) {
			techniques = append(techniques, tag)
		}
	}
	sort.Strings(techniques)
	for _, tag := range techniques {
		fmt.Fprintf(&b, "| [%s](https://attack.mitre.org/techniques/%s/) | %s |\n", tag, strings.ReplaceAll(tag, ".", "/"), list(tag))
	}
	page := filepath.Join("..", "docs", "reference", "rule-tags.md")
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("docs/reference/rule-tags.md is not what the rules say (%v); run: go generate ./rules", err)
	}
}
