package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// offering is an MCP server on standard streams that offers the tools of a file, as they stand there when it is started.
const offering = `
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    result = {}
    if m["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "offering", "version": "1"}}
    elif m["method"] == "tools/list":
        result = {"tools": json.load(open(sys.argv[1]))}
    elif m["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "called with " + json.dumps(m["params"]["arguments"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
`

// behindGateway connects a client to the server of that name behind a gateway, which offers the tools it is given.
func (h *house) behindGateway(name, tools string) *agent {
	h.t.Helper()
	program, offers := filepath.Join(h.dir, "offering.py"), filepath.Join(h.dir, name+".json")
	for file, text := range map[string]string{program: offering, offers: tools} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	return h.connect(&mcp.CommandTransport{Command: h.command("gateway", "--name", name, "--", "python3", program, offers)})
}

// listed has a client list what the server behind a gateway offers now.
func (h *house) listed(name, tools string) {
	h.t.Helper()
	a := h.behindGateway(name, tools)
	defer a.session.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := a.session.ListTools(ctx, nil); err != nil {
		h.t.Fatal(err)
	}
}

// A call through the gateway that something objects to waits for the console, and goes on as soon as somebody has answered there.
func TestACallThroughTheGatewayWaitsForTheConsole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	olga := newPage(t, startChromium(t), h.origin, device{phone: true})
	olga.enrol(h.link("operator", "add", "olga", "--role", "admin", "--enrol"), "olga")
	a := h.behindGateway("files", `[{"name":"write_file","inputSchema":{"type":"object"}}]`)
	startup := filepath.Join(h.dir, ".bashrc")
	came := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: "files.write_file", Arguments: options{"path": startup, "content": "make notes"}})
		text, wrong := json.Marshal(result)
		came <- fmt.Sprint(string(text), err, wrong)
	}()
	olga.awaits("the request", func() bool {
		select {
		case early := <-came:
			t.Fatalf("nobody was asked: %s", early)
		default:
		}
		olga.open("/pending")
		return olga.has(`//main//a[starts-with(., "apr_")]`)
	})
	olga.follows(`//main//a[starts-with(., "apr_")]`)
	olga.sees(startup)
	select {
	case early := <-came:
		t.Fatalf("before anybody answered: %s", early)
	default:
	}
	olga.presses("Approve once, with a passkey")
	if got := <-came; !strings.Contains(got, "called with") || strings.Contains(got, "isError") {
		t.Errorf("what was approved: %s", got)
	}
}

// What servers offer is readable and tame on a phone and on a desk, however long its names and whatever has changed; what was
// approved can be read as well as what waits.
func TestToolsAreReadable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := strings.Repeat("a_very_long_tool_name_", 5)
	tools := func(description string) string {
		return fmt.Sprintf(`[{"name":"read_note","description":"Read a note","inputSchema":{"type":"object"}},
			{"name":%q,"title":"Long","description":%q,"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"where"}}}}]`, long, description)
	}
	h.listed("notes-with-quite-a-long-name-of-a-server", tools("Write a note.\n\nIt is kept."))
	h.listed("notes-with-quite-a-long-name-of-a-server", tools("Write a note "+strings.Repeat("withoutanybreak", 30)+".\n\nIt is kept, \u202eelsewhere."))
	h.listed("plain", `[{"name":"echo","description":"Say it again","inputSchema":{"type":"object"}}]`)
	browser := startChromium(t)
	for _, d := range []device{{phone: true}, {}} {
		name := map[bool]string{true: "anna", false: "bert"}[d.phone]
		p := newPage(t, browser, h.origin, d)
		if !d.phone {
			p.do("Emulation.setDeviceMetricsOverride", options{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
		}
		p.enrol(h.link("operator", "add", name, "--role", "admin", "--enrol"), name)
		p.open("/tools")
		p.sees("1 in quarantine")
		var cut []string
		p.evaluate(`[...document.querySelectorAll(".wide-table")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)`, &cut)
		if len(cut) > 0 {
			t.Errorf("names are cut off: %q", cut)
		}
		p.open("/tools/show?subject=notes-with-quite-a-long-name-of-a-server." + long)
		p.sees("It is kept, ⟦U+202E⟧elsewhere.")
		p.open("/tools/show?subject=plain.echo")
		p.misses("Say it again")
		p.touches(`//summary[.="Read its definition"]`)
		p.sees("Say it again")
		p.open("/tools/show?subject=notes-with-quite-a-long-name-of-a-server")
		p.sees("On its own page, because it speaks to the model or was put there by an operator: notes-with-quite-a-long-name-of-a-server." + long)
	}
}
