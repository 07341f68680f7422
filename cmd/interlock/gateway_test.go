package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// notesServer is a small MCP server on standard streams for scripts: it keeps notes in memory, reads and deletes files, and
// dies when told to.
func notesServer() {
	fmt.Println("notes server ready") // as many servers do, though they must not
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		if lines := wordForWord(m.Method + " " + m.Params.Name); lines != nil {
			for _, line := range lines {
				fmt.Println(strings.ReplaceAll(string(line), `"$ID"`, string(m.ID)))
			}
			continue
		}
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}` + otherLists() +
				`},"serverInfo":{"name":"notes","version":"1"}}`
		case "prompts/list", "resources/list", "resources/templates/list":
			result = otherList(m.Method)
		case "prompts/get":
			result = `{"messages":[{"role":"user","content":{"type":"text","text":"the prompt"}}]}`
		case "resources/read":
			result = `{"contents":[{"uri":"note://x","text":"the resource"}]}`
		case "tools/list":
			result = `{"tools":[{"name":"read_note","inputSchema":{"type":"object"}},{"name":"run_command","inputSchema":{"type":"object"}},` +
				`{"name":"write_file","inputSchema":{"type":"object"}},{"name":"read_then_die","inputSchema":{"type":"object"}}]}`
			if len(os.Args) > 1 && strings.HasSuffix(os.Args[1], ".json") { // other tools, as a file lists them
				list, _ := os.ReadFile(os.Args[1])
				result = `{"tools":` + strings.Join(strings.Fields(string(list)), " ") + `}`
			}
		case "server/discover":
			if len(os.Args) > 1 && os.Args[1] == "2026-07-28" {
				result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
			}
		case "tools/call":
			if m.Params.Name == "read_then_die" {
				os.Exit(3)
			}
			if m.Params.Arguments["ask"] == "first" { // by a request of its own
				fmt.Printf(`{"jsonrpc":"2.0","id":"asked during %s","method":"elicitation/create","params":{"message":"Which shelf?","requestedSchema":{"type":"object","properties":{}}}}`+"\n", m.ID)
				continue
			}
			if ask, ok := m.Params.Arguments["ask"].(string); ok {
				result = fmt.Sprintf(`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Which %s?",`+
					`"requestedSchema":{"type":"object","properties":{%[1]q:{"type":"string"}}}}}},"requestState":"of the server"}`, ask)
				break
			}
			if m.Params.Arguments["title"] == "entrusted" { // a server may give away what it was entrusted with, in all places
				fmt.Fprintln(os.Stderr, "the token is", os.Getenv("NOTES_TOKEN"))
				m.Params.Arguments = map[string]any{"token": os.Getenv("NOTES_TOKEN"), "home": os.Getenv("INTERLOCK_HOME")}
			}
			if m.Params.Arguments["title"] == "endless" { // more than any answer may have
				m.Params.Arguments = map[string]any{"text": strings.Repeat("x", 17<<20)}
			}
			text, _ := json.Marshal(fmt.Sprintf("%s %v", m.Params.Name, m.Params.Arguments))
			result = `{"content":[{"type":"text","text":` + string(text) + `}]}`
		}
		fmt.Printf(`{"result":%s,"jsonrpc":"2.0","id":%s}`+"\n", result, m.ID)
	}
}

// wordForWord is what a file named told.json says word for word where a request of that method and name comes.
func wordForWord(request string) (lines []json.RawMessage) {
	all := map[string][]json.RawMessage{}
	if text, err := os.ReadFile("told.json"); err == nil && json.Unmarshal(text, &all) == nil {
		return all[strings.TrimSpace(request)]
	}
	return nil
}

// otherLists are the capabilities of a notes server beside its tools: what there are files for in its directory.
func otherLists() (capabilities string) {
	for name, file := range map[string]string{"prompts": "prompts.json", "resources": "resources.json"} {
		if _, err := os.Stat(file); err == nil {
			capabilities += `,"` + name + `":{}`
		}
	}
	return capabilities
}

// otherList is a list as a file has it.
func otherList(method string) string {
	in := map[string][2]string{"prompts/list": {"prompts", "prompts.json"}, "resources/list": {"resources", "resources.json"},
		"resources/templates/list": {"resourceTemplates", "templates.json"}}[method]
	list, err := os.ReadFile(in[1])
	if err != nil {
		list = []byte("[]")
	}
	return `{"` + in[0] + `":` + strings.Join(strings.Fields(string(list)), " ") + `}`
}
