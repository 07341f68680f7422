package harnesses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// serveGemini answers in the form of Google's Gemini API, streamed or in one piece, as is asked for.
func (m *model) serveGemini(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Parts []struct {
				Response *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if !decodeRequest(w, r, &request) {
		return
	}
	var offered, results []string
	for _, tool := range request.Tools {
		for _, function := range tool.Functions {
			offered = append(offered, function.Name)
		}
	}
	for _, content := range request.Contents {
		for _, part := range content.Parts {
			if part.Response != nil {
				results = append(results, toldOf(part.Response.Response))
			}
		}
	}
	part := map[string]any{"text": lastWords}
	if call, number, more := m.next(offered, results); more {
		part = map[string]any{"functionCall": map[string]any{"id": fmt.Sprintf("call_%d", number), "name": call.Tool, "args": call.Arguments}}
	}
	answer := compact(map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{part}}}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// toldOf is the text of a function's response: its output or its error.
func toldOf(response json.RawMessage) string {
	var outcome struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(response, &outcome) != nil {
		return string(response)
	}
	return outcome.Output + outcome.Error
}
