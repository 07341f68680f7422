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
)

// verdict is what counts of a case, told as a verdict: what is found is denied.
func (m measured) verdict(c labelled) string {
	switch m {
	case personalOf:
		return c.Personal
	case reviewOf:
		return c.Classified
	}
	return c.Verdict
}

var (
	personalData = []string{"presidio-recognizers", "libphonenumber-matcher"}
	// personalTypes are what can be found without knowing names: people, places and firms are not attempted.
	personalTypes = []string{"CREDIT_CARD", "IBAN_CODE", "EMAIL_ADDRESS", "PHONE_NUMBER", "US_SSN", "IP_ADDRESS",
		"US_DRIVER_LICENSE", "STREET_ADDRESS"}
)

// classified says whether the classifier reviews or blocks a text, and whether it finds personal data in it.
func classified(safety *classify.Rulesets, c labelled) (review, personal string) {
	var text string
	if c.Kind != string(interlock.KindText) || json.Unmarshal(c.Input, &text) != nil {
		return "", ""
	}
	review, personal = "allow", "allow"
	result := classify.Text(safety.Named("mace-stage1"), text)
	if result.Classification.Stricter(classify.Remove) {
		review = "deny"
	}
	for _, s := range result.Spans {
		if strings.HasPrefix(s.Rule, "personal.") {
			personal = "deny"
		}
	}
	return review, personal
}
