package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"interlock"
	"interlock/embedded"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
	"interlock/internal/strictjson"
)

// resultTexts classifies what servers answer before a client sees it, by the ruleset that the settings name.
type resultTexts struct {
	backend *embedded.Backend
	ruleset string
}

// textsOfResults is the gateway's classifier, or none where the settings want none.
func textsOfResults(settings config.Config, backend *embedded.Backend) mcpgateway.Classifier {
	if settings.Gateway.Texts.Off() {
		return nil
	}
	return &resultTexts{backend: backend, ruleset: string(settings.Gateway.Texts)}
}

// Classify gives a result as it may be shown. What is blocked is withheld in the exact words of MACE 3.3; where something was taken out
// the result says so.
func (t *resultTexts) Classify(ctx context.Context, c mcpgateway.Classified) (json.RawMessage, error) {
	var value any
	if err := strictjson.DecodeTrusted(c.Result, &value); err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "result", "the server's answer is no JSON that can be looked at")
	}
	var texts []string
	value = eachText(value, func(text string) string { texts = append(texts, text); return text })
	way := embedded.Passing{Requester: c.Requester, Where: "result of a server", About: c.Event}
	found, shown, err := t.backend.Screen(ctx, t.ruleset, way, texts...)
	switch {
	case err != nil:
		return nil, interlock.Errorf(interlock.CodeUnavailable, "result", "what became of the server's answer could not be recorded")
	case found.Classification == classify.Pass:
		return c.Result, nil
	case found.Classification == classify.Refuse:
		return blockedResult(value)
	}
	next := 0
	value = eachText(value, func(string) string { next++; return shown[next-1] })
	if result, is := value.(map[string]any); is {
		if content, is := result["content"].([]any); is {
			result["content"] = append(content, map[string]any{"type": "text", "text": found.Message})
		}
	}
	return strictjson.Marshal(value)
}

// blockedResult is what is answered in place of a result that is blocked.
func blockedResult(of any) (json.RawMessage, error) {
	blocked := map[string]any{"content": []any{map[string]any{"type": "text", "text": classify.BlockMessage}}, "isError": true}
	if result, is := of.(map[string]any); is && result["resultType"] != nil {
		blocked["resultType"] = "complete"
	}
	return strictjson.Marshal(blocked)
}

// eachText replaces every string of a value, in the order of its members' names. Pictures and sound are left as they are: they are no
// text to anybody who reads them.
func eachText(value any, with func(string) string) any {
	switch v := value.(type) {
	case string:
		return with(v)
	case []any:
		for n := range v {
			v[n] = eachText(v[n], with)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "data" && (kind == "image" || kind == "audio") {
				continue
			}
			v[name] = eachText(v[name], with)
		}
	}
	return value
}
