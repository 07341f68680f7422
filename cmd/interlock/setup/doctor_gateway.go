package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/tune"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/hook"
)

// gateways looks at the MCP servers of every client, and proves of those behind the gateway that they answer through it.
func (d *Diagnosis) gateways(place harness.Place) {
	for _, name := range harness.Clients() {
		client, id := ClientIn(name, place)
		argv, err := client.Registered(place)
		if err != nil {
			d.note("gateway", name, statusFail, "%s", err)
			continue
		}
		others, err := client.Others(place)
		if err != nil {
			d.note("gateway", name, statusFail, "%s", err)
			continue
		}
		switch {
		case len(argv) == 0 && len(others) > 0:
			d.note("gateway", name, statusInfo,
				"its MCP servers are not behind the gateway: %s; interlock install gateway --client %s",
				strings.Join(others, ", "), name)
		case len(argv) == 0:
		default:
			if len(others) > 0 {
				d.note("gateway", name, statusWarn,
					"servers stand beside the gateway, so that nothing decides their calls: %s; interlock install "+
						"gateway --client %s moves them", strings.Join(others, ", "), name)
			}
			d.throughGateway(name, id, argv)
		}
	}
}

// throughGateway starts the gateway as a client would and looks at every server through it.
func (d *Diagnosis) throughGateway(client, id string, argv []string) {
	servers, err := d.Settings.WithClient(id)
	var ordered []config.GatewayServer
	if err == nil {
		ordered, err = servers.Ordered()
	}
	if err != nil {
		d.note("gateway", client, statusFail, "%s", err)
		return
	}
	start := cli.Now()
	seen, err := d.converse(argv)
	if err != nil {
		d.note("gateway", client, statusFail, "the registered command does not answer: %v", err)
		return
	}
	d.note("gateway", client, statusOK, "answers, %s behind it", counted(len(ordered), "server", "servers"))
	d.Checks[len(d.Checks)-1].Micros = cli.Now().Sub(start).Microseconds()
	for _, server := range ordered {
		if why, absent := seen.absent[server.Name]; absent && seen.tools[server.Name] == 0 { // one with tools came after all
			d.note("mcp server", client, statusFail, "%s does not answer through the gateway: %s", server.Name, why)
			continue
		}
		tools := counted(seen.tools[server.Name], "tool", "tools")
		if seen.tools[server.Name] == 0 {
			tools = "but no tool of it is offered; what waits for approval: interlock tools list --quarantined"
		}
		d.note("mcp server", client, statusOK, "%s answers through the gateway, %s", server.Name, tools)
	}
	switch {
	case d.Settings.Mode != interlock.Enforcing:
	case seen.refused:
		d.note("canary", client, statusOK, "a call through the gateway was refused: %s", seen.code)
	default:
		d.note("canary", client, statusFail, "a call through the gateway was not refused")
	}
}

// A sighting is what a client sees of a gateway.
type sighting struct {
	tools   map[string]int    // by server
	absent  map[string]string // servers that were not there, and why
	refused bool              // the canary
	code    string
}

// How long a gateway gets to answer, and its servers before it is asked what they offer: some are downloaded when they are first
// started.
const (
	gatewayPatience = 120 * time.Second
	ServerPatience  = 90 * time.Second
)

// converse runs a registered command with a canary behind it, as an MCP client does.
func (d *Diagnosis) converse(argv []string) (sighting, error) {
	ctx, cancel := context.WithTimeout(d.Program.Ctx, gatewayPatience)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0],
		append(append([]string(nil), argv[1:]...), "--agent", interlock.CanaryAgent, "--canary")...)
	command.Dir = os.TempDir()
	command.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	command.Stderr = &stderr
	in, err := command.StdinPipe()
	if err != nil {
		return sighting{}, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return sighting{}, err
	}
	if err := command.Start(); err != nil {
		return sighting{}, errors.New("it can't be started")
	}
	talk := &conversation{in: in, out: bufio.NewReader(out)}
	seen, err := talk.look()
	in.Close()
	_, _ = io.Copy(io.Discard, talk.out)
	waited := command.Wait()
	if err != nil {
		if said := strings.TrimSpace(lastLine(stderr.Bytes())); said != "" && waited != nil {
			return seen, errors.New(said)
		}
		return seen, err
	}
	seen.absent = absentServers(stderr.Bytes())
	return seen, nil
}

// absentServers reads from a gateway's log which servers were not there.
func absentServers(log []byte) map[string]string {
	absent := map[string]string{}
	for _, line := range bytes.Split(log, []byte("\n")) {
		var entry struct {
			Message string `json:"msg"`
			Server  string `json:"server"`
			Error   string `json:"error"`
			Cause   string `json:"cause"`
		}
		if json.Unmarshal(line, &entry) == nil && entry.Message == "a server is not there" {
			if absent[entry.Server] = entry.Error; entry.Cause != "" {
				absent[entry.Server] = entry.Cause
			}
		}
	}
	return absent
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// A conversation is with an MCP server on standard streams.
type conversation struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

// ask sends a request and returns its result.
func (c *conversation) ask(method string, params any) (json.RawMessage, error) {
	c.id++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(request, '\n')); err != nil {
		return nil, errors.New("it does not read")
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, errors.New("no answer")
		}
		var answer struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &answer) != nil {
			continue
		}
		if answer.Method == "roots/list" && answer.ID != nil {
			if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`+"\n", answer.ID); err != nil {
				return nil, errors.New("it does not read")
			}
		}
		if answer.Method != "" || string(answer.ID) != strconv.Itoa(c.id) {
			continue
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %.200s", method, answer.Error.Message)
		}
		return answer.Result, nil
	}
}

// takesAll is what doctor says it can do: some servers have tools only for clients that can answer them, and a tool that is first
// seen after its server was approved waits for an operator.
const takesAll = `{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}`

// look introduces itself, lists all tools and tries the canary.
func (c *conversation) look() (sighting, error) {
	seen := sighting{tools: map[string]int{}}
	_, err := c.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": json.RawMessage(takesAll),
		"clientInfo": map[string]any{"name": "interlock-doctor", "version": embedded.Version()}})
	if err != nil {
		return seen, err
	}
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return seen, errors.New("it does not read")
	}
	for params := map[string]any{}; ; {
		result, err := c.ask("tools/list", params)
		if err != nil {
			return seen, err
		}
		var page struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			Next string `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return seen, errors.New("its list of tools can't be read")
		}
		for _, tool := range page.Tools {
			server, _, _ := strings.Cut(tool.Name, ".")
			seen.tools[server]++
		}
		if page.Next == "" {
			break
		}
		params["cursor"] = page.Next
	}
	result, err := c.ask("tools/call", canaryCall())
	if err != nil {
		return seen, err
	}
	var answer struct {
		IsError    bool `json:"isError"`
		Structured struct {
			Status string `json:"status"`
			Code   string `json:"code"`
		} `json:"structuredContent"`
	}
	seen.refused = json.Unmarshal(result, &answer) == nil && answer.IsError && answer.Structured.Status == "denied"
	seen.code = answer.Structured.Code
	return seen, nil
}

// staleReport is how long after a report a harness still at work would have reported again: Claude Code does each minute.
const staleReport = 24 * time.Hour

// telemetry says of a registered harness whether it reports what it uses, and whether that arrives.
func (d *Diagnosis) telemetry(h harness.Harness, place harness.Place) {
	if place.Project != "" {
		return
	}
	heard := d.reportedBy(h.Name)
	endpoint, set := h.TelemetryOf(place)
	switch base, err := telemetryBase(d.Settings); {
	case set && err != nil:
		d.note("telemetry", h.Name, statusWarn, "it reports what it uses to %s, and nothing takes it there: %s", endpoint, err)
	case set && !strings.HasPrefix(endpoint, base+"/"):
		d.note("telemetry", h.Name, statusWarn, "it reports what it uses to %s, and Interlock takes it at %s; run: interlock install %s --telemetry",
			endpoint, base, h.Name)
	case heard.IsZero() && set:
		d.note("telemetry", h.Name, statusWarn, "it is set to report what it uses, and nothing has arrived in eight days; it does while interlock up runs")
	case heard.IsZero() && h.Reports() && d.budgeted():
		d.note("telemetry", h.Name, statusWarn, "budgets hold, and nothing reports what it uses; run: interlock install %s --telemetry", h.Name)
	case heard.IsZero():
	case set && cli.Now().Sub(heard) > staleReport:
		d.note("telemetry", h.Name, statusInfo, "it reported what it uses %s ago", cli.Span(cli.Now().Sub(heard)))
	default:
		d.note("telemetry", h.Name, statusOK, "it reports what it uses, %s ago at last", cli.Span(cli.Now().Sub(heard)))
	}
}

// reportedBy is when an agent's usage was reported last.
func (d *Diagnosis) reportedBy(agent string) (last time.Time) {
	_, heard, err := (&tune.BudgetsCommand{Agent: agent}).Read(d.Program)
	if err != nil {
		return last // which is told where the store is looked at
	}
	for _, m := range heard {
		if m.Last.After(last) {
			last = m.Last
		}
	}
	return last
}

// budgeted reports whether the rules hold budgets.
func (d *Diagnosis) budgeted() bool {
	evaluator, _, err := d.Program.Evaluator()
	return err == nil && len(evaluator.Rules.AllBudgets()) > 0
}

// CanaryName is what doctor's own server behind a gateway is called, and CanaryTool its only tool.
const (
	CanaryName = "interlock-canary"
	CanaryTool = "run_command"
)

// canaryCall is the call that must be refused.
func canaryCall() map[string]any {
	return map[string]any{"name": CanaryName + "." + CanaryTool, "arguments": map[string]any{"command": hook.CanaryCommand}}
}
