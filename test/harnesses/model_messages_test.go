package harnesses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// serveMessages answers in the form of Anthropic's Messages API, streamed.
func (m *model) serveMessages(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string `json:"model"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if !decodeRequest(w, r, &request) {
		return
	}
	var offered, results []string
	for _, tool := range request.Tools {
		offered = append(offered, tool.Name)
	}
	for _, message := range request.Messages {
		var parts []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(message.Content, &parts) != nil {
			continue // a string: no results in it
		}
		for _, part := range parts {
			if part.Type == "tool_result" {
				results = append(results, textIn(part.Content))
			}
		}
	}
	block, delta, reason := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": lastWords}, "end_turn"
	first := ""
	if len(request.Messages) > 0 {
		first = string(request.Messages[0].Content)
	}
	if call, number, more := m.of(first).next(offered, results); more {
		block = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", number), "name": call.Tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": compact(call.Arguments)}
		reason = "tool_use"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1}
	for _, event := range []map[string]any{
		{"type": "message_start", "message": map[string]any{"id": "msg", "type": "message", "role": "assistant", "model": request.Model,
			"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], compact(event))
	}
}

// textIn is the text of a result: a string, or parts of which some are text.
func textIn(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	var texts []string
	for _, part := range parts {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}
