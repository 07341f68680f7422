package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/classify"
	"interlock/rules"
)

// checkRuleset is the ruleset that `check --kind text` classifies by: what is written, said or submitted.
const checkRuleset = "mace-stage1"

// safetyRules are the rulesets that are shipped.
var safetyRules = sync.OnceValues(func() (*classify.Rulesets, error) { return classify.Parse(rules.Defaults()["safety.yaml"]) })

// checkText is what the classifier says of a text (MACE 3.1). Spans are byte offsets.
type checkText struct {
	Classification classify.Classification `json:"classification"`
	Rule           string                  `json:"rule"`
	Reason         string                  `json:"reason,omitempty"`
	Message        string                  `json:"message,omitempty"`
	Ruleset        string                  `json:"ruleset"`
	Spans          []classify.Span         `json:"spans"`
	Found          int                     `json:"found"`
	Redacted       string                  `json:"redacted"`
	Shown          string                  `json:"shown"`
}

// textOf classifies an action that is a text; of others it says nothing.
func textOf(action interlock.Action) (*checkText, error) {
	if action.Kind != interlock.KindText {
		return nil, nil
	}
	all, err := safetyRules()
	if err != nil {
		return nil, err
	}
	r := classify.Text(all.Named(checkRuleset), action.Input)
	return &checkText{r.Classification, r.Rule, r.Reason, r.Message, r.Ruleset, orEmpty(r.Spans), r.Found, r.Redacted, r.Shown}, nil
}

// print shows a person what the classifier found.
func (c *checkText) print(w io.Writer) error {
	if c == nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "text   %s", c.Classification)
	if c.Rule != "" {
		fmt.Fprintf(&b, " by %s: %s", c.Rule, c.Reason)
	}
	b.WriteString("\n")
	for _, s := range c.Spans {
		fmt.Fprintf(&b, "  - bytes %d to %d: %s, by %s\n", s.Start, s.End, s.Kind, s.Rule)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
