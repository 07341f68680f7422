package harnesses

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A toolCall is what the model asks the harness for. A Tool that is none of the offered names means the one that holds it:
// harnesses put words of their own around the names of MCP servers' tools. An argument that is a function of a text is what
// it makes of the outcome of the call before.
type toolCall struct {
	Tool      string
	Arguments map[string]any
}

// A model answers in the form of each provider's API: its first answer asks for the first call, every answer to a
// call's result for the next one, and when nothing is left it says that it is done.
type model struct {
	URL string

	mu      sync.Mutex
	calls   []toolCall
	asked   int
	results []string // what the harness told the model became of each call
	strange []string // requests nobody here understands
	offered []string // the tools it may ask for, as it was told at first

	inner map[string]*model // other conversations: the model of each, by a text that only its first message holds
}

// lastWords is the text the model ends with.
const lastWords = "That is all."

func newModel(t *testing.T, calls ...toolCall) *model {
	t.Helper()
	m := &model{calls: calls}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.serveMessages)
	mux.HandleFunc("POST /v1/responses", m.serveResponses)
	mux.HandleFunc("POST /v1/chat/completions", m.serveChat)
	mux.HandleFunc("POST /chat/completions", m.serveChat)
	mux.HandleFunc("POST /v1beta/models/{call}", m.serveGemini)
	mux.HandleFunc("/", m.serveStrange)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// serveStrange answers what harnesses ask beside the model, such as whether the address is alive.
func (m *model) serveStrange(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.strange = append(m.strange, r.Method+" "+r.URL.Path)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, "{}")
}

// of is the model of the conversation that begins with a message.
func (m *model) of(first string) *model {
	for text, other := range m.inner {
		if strings.Contains(first, text) {
			return other
		}
	}
	return m
}

// next takes down what became of the calls asked for so far, and returns the next call or false when the model is done.
// offered are the names of the tools it may ask for, results all results the request tells of, oldest first.
func (m *model) next(offered, results []string) (call toolCall, number int, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) > len(m.results) {
		m.results = append(m.results, results[len(m.results):]...)
	}
	if len(offered) == 0 || m.asked > len(m.results) || m.asked == len(m.calls) { // a side request, such as for a title; or the end
		return toolCall{}, 0, false
	}
	if m.asked == 0 {
		m.offered = offered
	}
	call = m.calls[m.asked]
	call.Arguments = maps.Clone(call.Arguments)
	for name, value := range call.Arguments {
		if make, ok := value.(func(string) string); ok {
			call.Arguments[name] = make(m.results[len(m.results)-1])
		}
	}
	m.asked++
	if !slices.Contains(offered, call.Tool) {
		for _, name := range offered {
			if strings.Contains(name, call.Tool) {
				call.Tool = name
			}
		}
	}
	return call, m.asked, true
}

// told is what the harness told the model became of each call.
func (m *model) told() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

func decodeRequest(w http.ResponseWriter, r *http.Request, request any) bool {
	err := json.NewDecoder(r.Body).Decode(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // values of this package only
	}
	return string(text)
}
