package judge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"interlock/internal/strictjson"
)

// A form is how one wire writes a question and reads an answer.
type form interface {
	// request is what is sent, as a value that is written as JSON.
	request(c Config, prefix, question string) any
	exchange(ctx context.Context, c *Client, body []byte) reply
	read(body []byte) (said, error)
	caches() bool // writing to the provider's cache costs more than reading what was sent
}

// said is what came back: one text of a model, what the model is called, and what it used.
type said struct {
	text  string
	model string // empty: the answer does not say
	used  usage
}

// envelope bounds what is read of a provider's answer around the model's.
func envelope(body []byte, into any) error {
	if strictjson.DecodeLenient(body, into) != nil {
		return errors.New("what came back is not JSON of the form that the wire has")
	}
	return nil
}

func (c Config) omits(what string) bool { return slices.Contains(c.Omit, what) }

// A message is one turn of the wires of OpenAI's form.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// chatForm is OpenAI's chat completions, which Ollama, vLLM, llama.cpp and many others speak.
type chatForm struct{}

func (chatForm) caches() bool { return false }

func (chatForm) request(c Config, prefix, question string) any {
	body := map[string]any{"model": c.Model, "n": 1, "store": false, "stream": false,
		"messages": []message{{"system", prefix}, {"user", question}}}
	if c.omits(OmitMaxTokens) {
		body["max_completion_tokens"] = c.MaxTokens
	} else {
		body["max_tokens"] = c.MaxTokens
	}
	if !c.omits(OmitTemperature) {
		body["temperature"] = 0
	}
	if !c.omits(OmitSeed) {
		body["seed"] = c.Seed
	}
	if !c.omits(OmitFormat) {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "judgment", "strict": true, "schema": json.RawMessage(answerSchema)}}
	}
	return body
}

func (chatForm) exchange(ctx context.Context, c *Client, body []byte) reply {
	return c.post(ctx, "/chat/completions", body, bearer)
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (chatForm) read(body []byte) (said, error) {
	var wire struct {
		Model   string `json:"model"`
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content *string           `json:"content"`
				Refusal *string           `json:"refusal"`
				Tools   []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage *struct {
			In      int64 `json:"prompt_tokens"`
			Out     int64 `json:"completion_tokens"`
			Details *struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := envelope(body, &wire); err != nil {
		return said{}, err
	}
	s := said{model: wire.Model}
	if u := wire.Usage; u != nil {
		s.used = usage{in: u.In, out: u.Out, known: true}
		if u.Details != nil && u.Details.Cached <= u.In {
			s.used.in, s.used.cached = u.In-u.Details.Cached, u.Details.Cached
		}
	}
	if len(wire.Choices) != 1 {
		return s, errors.New("what came back has not exactly one answer")
	}
	one := wire.Choices[0]
	switch {
	case one.Finish == "length":
		return s, errors.New("the answer was cut off; raise max_answer_tokens")
	case one.Finish != "stop" || one.Message.Content == nil || one.Message.Refusal != nil || len(one.Message.Tools) > 0:
		return s, errors.New("the model did not end with an answer")
	}
	s.text = *one.Message.Content
	return s, nil
}

// responsesForm is OpenAI's responses.
type responsesForm struct{}

func (responsesForm) caches() bool { return false }

func (responsesForm) request(c Config, prefix, question string) any {
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	body := map[string]any{"model": c.Model, "instructions": prefix, "store": false, "stream": false, "truncation": "disabled",
		"input": []message{{"user", []part{{"input_text", question}}}}, "max_output_tokens": c.MaxTokens}
	if !c.omits(OmitTemperature) {
		body["temperature"] = 0
	}
	if !c.omits(OmitFormat) {
		body["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": "judgment", "strict": true,
			"schema": json.RawMessage(answerSchema)}}
	}
	return body
}

func (responsesForm) exchange(ctx context.Context, c *Client, body []byte) reply {
	return c.post(ctx, "/responses", body, bearer)
}

func (responsesForm) read(body []byte) (said, error) {
	var wire struct {
		Model  string `json:"model"`
		Status string `json:"status"`
		Output []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Content []struct {
				Type string  `json:"type"`
				Text *string `json:"text"`
			} `json:"content"`
		} `json:"output"`
		Usage *struct {
			In      int64 `json:"input_tokens"`
			Out     int64 `json:"output_tokens"`
			Details *struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	}
	if err := envelope(body, &wire); err != nil {
		return said{}, err
	}
	s := said{model: wire.Model}
	if u := wire.Usage; u != nil {
		s.used = usage{in: u.In, out: u.Out, known: true}
		if u.Details != nil && u.Details.Cached <= u.In {
			s.used.in, s.used.cached = u.In-u.Details.Cached, u.Details.Cached
		}
	}
	if wire.Status == "incomplete" {
		return s, errors.New("the answer was cut off; raise max_answer_tokens")
	}
	var texts []string
	for _, item := range wire.Output {
		switch {
		case item.Type == "reasoning": // thinking is no answer
		case item.Type == "message" && len(item.Content) == 1 && item.Content[0].Type == "output_text" && item.Content[0].Text != nil:
			texts = append(texts, *item.Content[0].Text)
		default:
			return s, errors.New("the model did not end with an answer")
		}
	}
	if wire.Status != "completed" || len(texts) != 1 {
		return s, errors.New("what came back has not exactly one answer")
	}
	s.text = texts[0]
	return s, nil
}

// anthropicForm is Anthropic's messages.
type anthropicForm struct{}

// anthropicVersion is the version of the interface that is spoken.
const anthropicVersion = "2023-06-01"

func (anthropicForm) caches() bool { return true }

func (anthropicForm) request(c Config, prefix, question string) any {
	type part struct {
		Type  string            `json:"type"`
		Text  string            `json:"text"`
		Cache map[string]string `json:"cache_control,omitempty"`
	}
	body := map[string]any{"model": c.Model, "max_tokens": c.MaxTokens, "stream": false,
		"system":   []part{{"text", prefix, map[string]string{"type": "ephemeral"}}},
		"messages": []message{{"user", []part{{"text", question, nil}}}}}
	if !c.omits(OmitTemperature) {
		body["temperature"] = 0
	}
	return body
}

func (anthropicForm) exchange(ctx context.Context, c *Client, body []byte) reply {
	return c.post(ctx, "/v1/messages", body, func(h http.Header, key string) { h.Set("X-Api-Key", key) })
}

func (anthropicForm) read(body []byte) (said, error) {
	var wire struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Model   string `json:"model"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		} `json:"content"`
		Usage *struct {
			In      int64 `json:"input_tokens"`
			Out     int64 `json:"output_tokens"`
			Cached  int64 `json:"cache_read_input_tokens"`
			Written int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	}
	if err := envelope(body, &wire); err != nil {
		return said{}, err
	}
	s := said{model: wire.Model}
	if u := wire.Usage; u != nil {
		s.used = usage{in: u.In, out: u.Out, cached: u.Cached, written: u.Written, known: true}
	}
	switch {
	case wire.Stop == "max_tokens":
		return s, errors.New("the answer was cut off; raise max_answer_tokens")
	case wire.Type != "message" || wire.Role != "assistant" || wire.Stop != "end_turn":
		return s, errors.New("the model did not end with an answer")
	case len(wire.Content) != 1 || wire.Content[0].Type != "text" || wire.Content[0].Text == nil:
		return s, errors.New("what came back has not exactly one answer")
	}
	s.text = *wire.Content[0].Text
	return s, nil
}

// commandForm is a program on this machine. What it prints is the answer itself.
type commandForm struct{}

func (commandForm) caches() bool { return false }

func (commandForm) request(c Config, prefix, question string) any {
	return struct {
		Model     string `json:"model,omitempty"`
		System    string `json:"system"`
		Question  string `json:"question"`
		Seed      int64  `json:"seed"`
		MaxTokens int    `json:"max_answer_tokens"`
	}{c.Model, prefix, question, c.Seed, c.MaxTokens}
}

func (commandForm) exchange(ctx context.Context, c *Client, body []byte) reply {
	return c.run(ctx, body)
}

func (commandForm) read(body []byte) (said, error) {
	return said{text: string(body), used: usage{known: true}}, nil
}
