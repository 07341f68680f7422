package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// A modelServer is a language model as scripts need one: it speaks OpenAI's chat completions and answers by its mood.
type modelServer struct {
	server *httptest.Server
	mood   atomic.Value
	asked  atomic.Int64
	last   atomic.Value // what it was asked last
}

var models sync.Map // *testscript.TestScript -> *modelServer

// cmdModel starts a model, or changes the mood of the one that runs: model [-tls] honest|allow|deny|down|words|gone|asked. Its address is
// then in $MODEL, the certificate of one with TLS in model.pem. `gone` ends it. `asked` leaves the number of questions so far, and the last
// of them, in the file asked.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: model [-tls] MOOD")
	}
	mood := args[len(args)-1]
	if value, runs := models.Load(ts); runs {
		m := value.(*modelServer)
		switch mood {
		case "asked":
		case "gone":
			m.server.Close()
			return
		default:
			m.mood.Store(mood)
			return
		}
		text, err := json.Marshal(m.asked.Load())
		ts.Check(err)
		last, _ := m.last.Load().(string)
		ts.Check(os.WriteFile(ts.MkAbs("asked"), []byte(string(text)+"\n"+last+"\n"), 0o600))
		return
	}
	m := &modelServer{}
	m.mood.Store(mood)
	m.server = httptest.NewUnstartedServer(m)
	m.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if args[0] == "-tls" {
		m.server.StartTLS()
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.server.Certificate().Raw})
		ts.Check(os.WriteFile(ts.MkAbs("model.pem"), text, 0o600))
	} else {
		m.server.Start()
	}
	ts.Setenv("MODEL", m.server.URL)
	models.Store(ts, m)
	ts.Defer(func() {
		models.Delete(ts)
		m.server.Close()
	})
}

// ServeHTTP answers one question.
func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	body, _ := io.ReadAll(r.Body)
	m.last.Store(r.Header.Get("Authorization") + "\n" + string(body))
	text := `{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"nothing speaks against it","confidence":0.9}`
	switch mood := m.mood.Load().(string); {
	case mood == "down":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case mood == "words":
		text = "ALLOWED? NO"
	case mood == "deny", mood == "honest" && (strings.Contains(string(body), "rm -rf ~/") || strings.Contains(string(body), "secrets of")):
		text = `{"decision":"DENY","layer":2,"rule_id":"L2.credentials","reason":"it sends keys away","confidence":0.97}`
	case mood == "honest" && strings.Contains(string(body), "buy our shares"):
		text = `{"decision":"DENY","layer":4,"rule_id":"L4.helpful","reason":"it is no summary","confidence":0.8}`
	}
	quoted, _ := json.Marshal(text)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"model":"small-1","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":`+string(quoted)+
		`}}],"usage":{"prompt_tokens":700,"completion_tokens":40}}`)
}
