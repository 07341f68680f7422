package harnesses

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
)

// A codexHook is what Codex says of a hook it found.
type codexHook struct {
	Key     string `json:"key"`
	Event   string `json:"eventName"`
	Enabled bool   `json:"enabled"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"`
}

// codexList reads the answer to hooks/list.
func codexList(result json.RawMessage) []codexHook {
	var list struct {
		Data []struct {
			Hooks []codexHook `json:"hooks"`
		} `json:"data"`
	}
	if json.Unmarshal(result, &list) != nil || len(list.Data) != 1 {
		return nil
	}
	return list.Data[0].Hooks
}

// trustCodexHooks does what choosing "Trust all" does in Codex's own review of hooks, which needs a terminal.
func trustCodexHooks(d *desk, binary string) {
	d.t.Helper()
	askCodex(d, binary, func(ask func(method string, params any) json.RawMessage) json.RawMessage {
		trusted := map[string]any{}
		for _, h := range codexList(ask("hooks/list", map[string]any{"cwds": []string{d.workspace}})) {
			trusted[h.Key] = map[string]any{"trusted_hash": h.Hash}
		}
		if len(trusted) == 0 {
			d.t.Fatal("Codex found no hooks")
		}
		return ask("config/batchWrite", map[string]any{"edits": []any{
			map[string]any{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": trusted}}})
	})
}

// askCodex talks to Codex's server, which its own terminal interface talks to as well.
func askCodex(d *desk, binary string, talk func(ask func(method string, params any) json.RawMessage) json.RawMessage) json.RawMessage {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	server := exec.CommandContext(ctx, binary, append([]string{"app-server"}, codexStaysHome()...)...)
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
	answers, id := json.NewDecoder(out), 0
	ask := func(method string, params any) json.RawMessage {
		id++
		if _, err := io.WriteString(in, compact(map[string]any{"id": id, "method": method, "params": params})+"\n"); err != nil {
			d.t.Fatal(err)
		}
		for {
			var answer struct {
				ID     int             `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  json.RawMessage `json:"error"`
			}
			if err := answers.Decode(&answer); err != nil || answer.Error != nil {
				d.t.Fatalf("Codex answers %s with %s (%v)", method, answer.Error, err)
			}
			if answer.ID == id {
				return answer.Result
			}
		}
	}
	ask("initialize", map[string]any{"clientInfo": map[string]any{"name": "interlock_tests", "version": "1"}})
	result := talk(ask)
	in.Close()
	if err := server.Wait(); err != nil {
		d.t.Fatal(err)
	}
	return result
}
