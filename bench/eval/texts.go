package main

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/classify"
)

// measured says what of a case a metric counts.
type measured int

const (
	verdictOf  measured = iota // the decision on the action
	personalOf                 // whether the classifier finds personal data in the text
	reviewOf                   // whether it has the text reviewed or blocks it
	secretOf                   // whether it finds a credential in the text
)

// verdict is what counts of a case, told as a verdict: what is found is denied.
func (m measured) verdict(c labelled) string {
	switch m {
	case personalOf:
		return c.Personal
	case reviewOf:
		return c.Classified
	case secretOf:
		return c.Secret
	}
	return c.Verdict
}

var (
	personalData = []string{"presidio-recognizers", "libphonenumber-matcher"}
	// personalTypes are what can be found without knowing names: people, places and firms are not attempted.
	personalTypes = []string{"CREDIT_CARD", "IBAN_CODE", "EMAIL_ADDRESS", "PHONE_NUMBER", "US_SSN", "IP_ADDRESS",
		"US_DRIVER_LICENSE", "STREET_ADDRESS"}
)

// classify says whether the classifier reviews or blocks a text, and whether it finds personal data or a credential in it.
func (c *labelled) classify(safety *classify.Rulesets) {
	var text string
	if c.Kind != string(interlock.KindText) || json.Unmarshal(c.Input, &text) != nil {
		return
	}
	c.Classified, c.Personal, c.Secret = "allow", "allow", "allow"
	result := classify.Text(safety.Named("mace-stage1"), text)
	if result.Classification.Stricter(classify.Remove) {
		c.Classified = "deny"
	}
	for _, s := range result.Spans {
		switch {
		case strings.HasPrefix(s.Rule, "personal."):
			c.Personal = "deny"
		case strings.HasPrefix(s.Rule, "secret."):
			c.Secret = "deny"
		}
	}
}
