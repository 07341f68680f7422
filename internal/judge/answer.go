package judge

import (
	"encoding/json"
	"errors"
	"math"

	"interlock"
	"interlock/internal/strictjson"
)

// The bounds of an answer's text.
const (
	maxAnswer = 16 << 10
	maxReason = 500 // bytes that are kept of a reason
)

// answerSchema is the form of an answer for providers that can hold a model to one. Nobody relies on it: parseAnswer decides.
const answerSchema = `{"type":"object","additionalProperties":false,` +
	`"required":["decision","layer","rule_id","reason","confidence"],"properties":{` +
	`"decision":{"type":"string","enum":["ALLOW","DENY"]},"layer":{"type":["integer","null"]},"rule_id":{"type":["string","null"]},` +
	`"reason":{"type":"string"},"confidence":{"type":"number"}}}`

// parseAnswer reads what a model said. It allows by exactly one form and denies by exactly one form; whatever else it is, is an error
// that says what is wrong without repeating any of it.
func parseAnswer(text string, ground Ground) (interlock.Judgment, error) {
	var a struct {
		Decision   *string         `json:"decision"`
		Layer      json.RawMessage `json:"layer"`
		Rule       json.RawMessage `json:"rule_id"`
		Reason     *string         `json:"reason"`
		Confidence *float64        `json:"confidence"`
	}
	denied := interlock.Judgment{Verdict: interlock.Deny}
	if err := strictjson.DecodeLimited([]byte(text), &a, strictjson.Limits{Bytes: maxAnswer, Depth: 2, Array: 8}); err != nil {
		return denied, errors.New("the answer is not one JSON object of the five members it may have")
	}
	if a.Decision == nil || len(a.Layer) == 0 || len(a.Rule) == 0 || a.Reason == nil || a.Confidence == nil {
		return denied, errors.New("the answer lacks one of decision, layer, rule_id, reason and confidence")
	}
	if !(*a.Confidence >= 0 && *a.Confidence <= 1) {
		return denied, errors.New("the answer's confidence is not from 0 to 1")
	}
	found := interlock.Judgment{Verdict: interlock.Deny, Reason: clean(*a.Reason, maxReason), Percent: int(math.Round(*a.Confidence * 100))}
	if found.Reason == "" {
		return denied, errors.New("the answer gives no reason")
	}
	switch *a.Decision {
	case "ALLOW":
		if string(a.Layer) != "null" || string(a.Rule) != "null" {
			return denied, errors.New("the answer allows and names a rule that forbids")
		}
		found.Verdict = interlock.Allow
		return found, nil
	case "DENY":
	default:
		return denied, errors.New("the answer's decision is neither ALLOW nor DENY")
	}
	if strictjson.Decode(a.Rule, &found.Rule) != nil || found.Rule == "" {
		return denied, errors.New("the answer denies and names no rule")
	}
	layer, known := ground.Layer(found.Rule)
	if !known {
		return denied, errors.New("the answer names a rule that is none of the ground rules")
	}
	if layer < 1 || layer > 4 || string(a.Layer) != string(rune('0'+layer)) {
		return denied, errors.New("the answer names a layer that is not that of its rule")
	}
	found.Layer, found.Conditional = layer, ground.Conditional(found.Rule)
	return found, nil
}
