package harnesses

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
)

// A codexServer is Codex's server, to which its own terminal interface talks too. Here the tests sit before it in a user's place.
type codexServer struct {
	d       *desk
	in      io.WriteCloser
	out     *json.Decoder
	calls   int
	allowed []string // what it asked its user, who always says yes
}

// withCodexServer starts the server, and stops it when talk has returned.
func withCodexServer(d *desk, binary string, flags []string, talk func(s *codexServer)) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	server := exec.CommandContext(ctx, binary, append(append([]string{"app-server"}, codexStaysHome()...), flags...)...)
	server.Dir, server.Env = d.workspace, d.env
	in, err := server.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	s := &codexServer{d: d, in: in, out: json.NewDecoder(out)}
	s.ask("initialize", map[string]any{"clientInfo": map[string]any{"name": "interlock_tests", "version": "1"}})
	talk(s)
	in.Close()
	if err := server.Wait(); err != nil {
		d.t.Fatal(err)
	}
}

// A codexMessage is an answer, a notification, or a question to the user.
type codexMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// ask calls a method and returns the result.
func (s *codexServer) ask(method string, params any) json.RawMessage {
	s.d.t.Helper()
	s.calls++
	s.send(map[string]any{"id": s.calls, "method": method, "params": params})
	answer := s.until(func(m codexMessage) bool { return m.Method == "" && string(m.ID) == compact(s.calls) })
	if answer.Error != nil {
		s.d.t.Fatalf("Codex answers %s with %s", method, answer.Error)
	}
	return answer.Result
}

// until reads on to a message, and says yes to what the user is asked meanwhile.
func (s *codexServer) until(wanted func(codexMessage) bool) codexMessage {
	s.d.t.Helper()
	for {
		var m codexMessage
		if err := s.out.Decode(&m); err != nil {
			s.d.t.Fatalf("Codex's server ended: %v", err)
		}
		switch {
		case wanted(m):
			return m
		case m.Method != "" && m.ID != nil:
			s.allowed = append(s.allowed, m.Method)
			s.send(map[string]any{"id": m.ID, "result": map[string]any{"decision": "accept"}})
		}
	}
}

func (s *codexServer) send(message any) {
	s.d.t.Helper()
	if _, err := io.WriteString(s.in, compact(message)+"\n"); err != nil {
		s.d.t.Fatal(err)
	}
}

// trustCodexHooks does what choosing "Trust all" does in Codex's own review of hooks, which needs a terminal.
func trustCodexHooks(d *desk, binary string) {
	d.t.Helper()
	withCodexServer(d, binary, nil, func(s *codexServer) {
		var list struct {
			Data []struct {
				Hooks []struct {
					Key  string `json:"key"`
					Hash string `json:"currentHash"`
				} `json:"hooks"`
			} `json:"data"`
		}
		answer := s.ask("hooks/list", map[string]any{"cwds": []string{d.workspace}})
		if err := json.Unmarshal(answer, &list); err != nil || len(list.Data) != 1 || len(list.Data[0].Hooks) == 0 {
			d.t.Fatalf("Codex found no hooks: %s (%v)", answer, err)
		}
		trusted := map[string]any{}
		for _, h := range list.Data[0].Hooks {
			trusted[h.Key] = map[string]any{"trusted_hash": h.Hash}
		}
		s.ask("config/batchWrite", map[string]any{"edits": []any{
			map[string]any{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": trusted}}})
	})
}
