package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A judgeServer is a throw-away language model behind OpenAI's chat completions: it allows what the check does not have it deny, and
// remembers what it was sent.
type judgeServer struct {
	listener net.Listener
	server   *http.Server

	mu     sync.Mutex
	bodies []string
	mode   string // how it misbehaves; empty: it does not

	denies []string // it denies what holds all of these
	only   string   // where set, it denies whatever does not hold this
	misses []string // and allows what holds one of these
	flaps  bool     // it says something else each time
	words  string   // where set, it answers with these
	tokens int      // that a question takes, as it says; 0: a thousand

	credentials []string // as what it was asked
}

// How a judge misbehaves.
const (
	modeError   = "answers with status 500"
	modeBusy    = "answers with status 429"
	modeSilent  = "does not answer in time"
	modeEmpty   = "answers with nothing"
	modeProse   = "answers ALLOWED? NO"
	modeTwice   = "answers with two objects"
	modeForeign = "denies by a rule there is not"
)

// denyWord in an action has the judge deny it by a ground rule of layer 3, and denyFirst by one of layer 1.
const (
	denyWord  = "beyond-the-scope"
	denyFirst = "against-base-laws"
)

const (
	judgeAllows = `{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"it breaks no rule","confidence":0.9}`
	judgeDenies = `{"decision":"DENY","layer":%d,"rule_id":"%s","reason":"it goes beyond what it is for","confidence":0.9}`
)

func serveJudge() (*judgeServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	j := &judgeServer{listener: listener}
	j.server = &http.Server{Handler: j, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = j.server.Serve(listener) }() // it ends with close
	return j, nil
}

func (j *judgeServer) close()          { _ = j.server.Close() } // nothing is lost
func (j *judgeServer) address() string { return "http://" + j.listener.Addr().String() + "/v1" }

// settings are those of a home that asks it.
func (j *judgeServer) settings() string {
	return "judge:\n  judges: [{name: main, wire: openai-chat, url: \"" + j.address() + "\", model: throw-away-1, timeout: 2s}]\n"
}

func (j *judgeServer) behave(mode string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mode = mode
}

// allowsOnly has it deny whatever does not hold a word, but for what holds one of the others, which it misses.
func (j *judgeServer) allowsOnly(word string, misses ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.only, j.misses = word, misses
}

// flap has it say something else each time.
func (j *judgeServer) flap(flaps bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flaps = flaps
}

// sent is what it was sent that holds a word: the bodies of requests.
func (j *judgeServer) sent(word string) (with []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, body := range j.bodies {
		if strings.Contains(body, word) {
			with = append(with, body)
		}
	}
	return with
}

// ServeHTTP answers one question.
func (j *judgeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	body := string(text)
	j.mu.Lock()
	j.bodies = append(j.bodies, body)
	j.credentials = append(j.credentials, r.Header.Get("Authorization"))
	mode, refuses, tokens, words := j.mode, j.refuses(body), j.tokens, j.words
	if j.flaps {
		refuses = len(j.bodies)%2 == 0
	}
	j.mu.Unlock()
	if tokens == 0 {
		tokens = 1000
	}
	canary := strings.Contains(body, "attacker.example")
	says := judgeAllows
	switch {
	case canary:
		says = fmt.Sprintf(judgeDenies, 1, "L1.integrity")
		mode = ""
	case strings.Contains(body, `"ls -l\`), strings.Contains(body, `ls -l`):
		mode = ""
	case words != "":
		says = words
	case outside(text): // it believes whatever is not in the question's own line
	case refuses, strings.Contains(body, denyFirst):
		says = fmt.Sprintf(judgeDenies, 1, "L1.integrity")
	case strings.Contains(body, denyWord):
		says = fmt.Sprintf(judgeDenies, 3, "L3.scope")
	}
	switch mode {
	case modeError:
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	case modeBusy:
		http.Error(w, "too many", http.StatusTooManyRequests)
		return
	case modeSilent:
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
		return
	case modeEmpty:
		says = ""
	case modeProse:
		says = "ALLOWED? NO"
	case modeTwice:
		says += says
	case modeForeign:
		says = fmt.Sprintf(judgeDenies, 2, "L2.no-such-rule")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "x", "object": "chat.completion", "model": "throw-away-1",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": says}}},
		"usage":   map[string]any{"prompt_tokens": tokens, "completion_tokens": 30}}) // a client that has gone needs none
}

// outside reports whether anything but the one line of a question reached a model in the message that has it.
func outside(body []byte) bool {
	var asked struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &asked) != nil || len(asked.Messages) == 0 {
		return true
	}
	lines := strings.FieldsFunc(strings.TrimSpace(asked.Messages[len(asked.Messages)-1].Content), func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085'
	})
	return len(lines) != 3 || strings.Contains(lines[1], "<|") || !strings.HasPrefix(lines[0], "BEGIN ") || !strings.HasPrefix(lines[2], "END ")
}

// Persuade has an agent ask for a command under profile asa, before a judge that answers in those words; where there are none it denies
// what is beyond-the-scope, and believes whatever stands outside of the question. It reports whether the command was refused.
func Persuade(ctx context.Context, d *Driver, home, command, words string) (refused bool, by string, err error) {
	h, judge, err := asaHouse(ctx, d, home)
	if err != nil {
		return false, "", err
	}
	judge.mu.Lock()
	judge.words = words
	judge.mu.Unlock()
	got := h.Decide(ctx, "worker", Shell(command))
	return got.Answer != "allow", got.Rule + ": " + got.Reason, nil
}

// asaHouse is a home under profile asa with a judge, and an agent. The judge is the same for every check that names the same home.
func asaHouse(ctx context.Context, d *Driver, name string) (*House, *judgeServer, error) {
	judge, there := d.judges[name]
	if !there {
		var err error
		if judge, err = serveJudge(); err != nil {
			return nil, nil, err
		}
		d.judges[name] = judge
	}
	h, err := d.House(ctx, Plan{Name: name, Profile: "asa", Settings: judge.settings()})
	if err != nil {
		return nil, nil, err
	}
	return h, judge, h.Agent(ctx, "worker")
}

// writeSettings writes a file for its owner alone.
func writeSettings(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}
