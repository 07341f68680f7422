// Package try holds the commands that decide an action: without recording it, or to run it in a sandbox.
package try

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/explain"
	"interlock/internal/ledger"
	"interlock/internal/rpc"
	"interlock/internal/store"
	"interlock/internal/strictjson"
)

type CheckCommand struct {
	Kind    string `help:"shell, sql, python, javascript, file, http, tool, hint or text." default:"shell" placeholder:"KIND"`
	Dir     string `help:"Working directory the action would run in. Default: none, so relative paths are the workspace's." placeholder:"DIR"`
	Agent   string `help:"Agent to judge as. Default: one that nobody registered." placeholder:"NAME"`
	JSON    bool   `name:"json" help:"Print one JSON object." xor:"form"`
	JSONL   bool   `name:"jsonl" help:"Read {\"id\",\"kind\",\"input\",\"dir\"} lines from standard input, print one answer line each, in order." xor:"form"`
	Explain bool   `help:"Show how the input is read, where each rule objects, and what would make it pass."`
	Input   string `arg:"" optional:"" help:"The command, statement, program, prose or object; - or nothing reads standard input."`
}

// Help is what `interlock check --help` adds.
func (CheckCommand) Help() string {
	return "Nothing is recorded and nothing runs. Exit status: 0 allow, 10 ask, 20 deny, 30 halt, 1 error, 2 usage.\n" +
		"With --jsonl the status is 0 if every line was judged and 1 if any was refused; a refused line is answered in its place."
}

// checkRequest is one line of --jsonl.
type checkRequest struct {
	ID    json.RawMessage `json:"id"`
	Kind  string          `json:"kind"`
	Input json.RawMessage `json:"input"`
	Dir   string          `json:"dir"`

	Session string          `json:"session"` // lines of one are judged with what came before
	Prompt  *string         `json:"prompt"`  // what the user of the session said
	Of      json.RawMessage `json:"of"`      // the id of a line of the session
	Result  json.RawMessage `json:"result"`  // what that call returned
}

// checkAnswer is what --json and --jsonl print.
type checkAnswer struct {
	ID                    json.RawMessage      `json:"id,omitempty"`
	Verdict               interlock.Verdict    `json:"verdict"`
	Findings              []interlock.Finding  `json:"findings"`
	Impacts               []interlock.Impact   `json:"impacts"`
	Risk                  int                  `json:"risk"`
	Danger                interlock.Danger     `json:"danger"`
	Digest                interlock.Digest     `json:"digest,omitempty"`
	Micros                int64                `json:"micros"`
	Explanation           *explain.Explanation `json:"explanation,omitempty"`
	Error                 *checkError          `json:"error,omitempty"`
	*interlock.Classified                      // of kind text alone
}

type checkError struct {
	Code    interlock.Code `json:"code"`
	Field   string         `json:"field,omitempty"`
	Message string         `json:"message"`
}

// maxLine bounds one line of --jsonl and one input: the largest action plus its JSON escapes.
const maxLine = 8 << 20

// Run judges one input or a stream of them.
func (c *CheckCommand) Run(p *cli.Program) error {
	if !c.JSONL {
		cli.TuneBrief()
	}
	evaluator, settings, err := p.Evaluator()
	if err != nil {
		return err
	}
	standing, err := c.standing(p.Ctx, settings)
	if err != nil {
		return c.refuse(p, err)
	}
	sessions := checkSessions{}
	judge := func(action interlock.Action, line checkRequest) checked {
		start := cli.Now()
		session := sessions.of(line.Session)
		proposal := Supposed(settings, action, c.Agent)
		session.before(evaluator, &proposal, start)
		decision := admission.Decide(evaluator, &proposal, standing, start)
		took := cli.Now().Sub(start)
		session.after(evaluator, line.ID, &proposal, decision, start)
		if !c.Explain {
			return checked{decision, nil, took, proposal.Classified()}
		}
		return checked{explain.WithoutSecrets(decision), explain.Of(evaluator, proposal, standing, decision, start), took,
			proposal.Classified()}
	}
	if c.JSONL {
		return c.stream(p, judge, func(line checkRequest) (checkHeard, error) {
			return sessions.of(line.Session).hear(evaluator, &line, cli.Now())
		})
	}
	return c.one(p, judge)
}

// standing is what the store knows of the agent to judge as: its trust and its allow-list. Without --agent, or without a
// store, nothing is known and nothing is opened.
func (c *CheckCommand) standing(ctx context.Context, settings config.Config) (ledger.Standing, error) {
	if c.Agent == "" || !store.Exists(settings.Home) {
		return ledger.Standing{}, nil
	}
	opened, err := store.Open(settings.Home, store.Options{ReadOnly: true})
	if err != nil {
		return ledger.Standing{}, err
	}
	defer opened.Close()
	rows, _, err := opened.Load(ctx, cli.Ref(ledger.Agent, c.Agent))
	if err != nil {
		return ledger.Standing{}, err
	}
	known := ledger.Standing{Agents: map[string]interlock.AgentRecord{}}
	for _, row := range rows {
		if agent, ok := row.Value.(interlock.AgentRecord); ok {
			known.Agents[agent.ID] = agent
		}
	}
	if !known.Agents[c.Agent].Revoked.IsZero() {
		return ledger.Standing{}, interlock.Errorf(interlock.CodeUnauthorized, "--agent",
			"%.40q is revoked; whatever it asks is refused", c.Agent)
	}
	return known, nil
}

// A checked is one input that was judged.
type checked struct {
	interlock.Decision
	why  *explain.Explanation
	took time.Duration
	text *interlock.Classified // of kind text alone
}

type judgeFunc func(interlock.Action, checkRequest) checked

type hearFunc func(checkRequest) (checkHeard, error)

// one judges a single input given as argument or on standard input.
func (c *CheckCommand) one(p *cli.Program, judge judgeFunc) error {
	action, err := c.Action(p)
	if err != nil {
		return c.refuse(p, err)
	}
	said := judge(action, checkRequest{})
	if c.JSON {
		if err := cli.WriteLine(p.Stdout, answerOf(nil, said)); err != nil {
			return err
		}
	} else if said.why != nil {
		p.WaysHere(said.why)
		if err := printExplanation(p.Stdout, said.Decision, *said.why); err != nil {
			return err
		}
	} else if err := cli.PrintDecision(p.Stdout, said.Decision); err != nil {
		return err
	}
	if !c.JSON {
		if err := printText(p.Stdout, said.text); err != nil {
			return err
		}
	}
	if code := cli.ExitStatus(said.Verdict); code != 0 {
		return &cli.ExitCode{Code: code}
	}
	return nil
}

// Action reads the one input. A string kind takes the text as it is; an object kind takes JSON.
func (c *CheckCommand) Action(p *cli.Program) (interlock.Action, error) {
	if !interlock.Kind(c.Kind).Valid() {
		return interlock.Action{}, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--kind", "%.40q is not known; name one of %v",
			c.Kind, interlock.Kinds()))
	}
	input := []byte(c.Input)
	if c.Input == "" || c.Input == "-" {
		var err error
		if input, err = io.ReadAll(io.LimitReader(p.Stdin, maxLine+1)); err != nil {
			return interlock.Action{}, fmt.Errorf("reading standard input: %w", err)
		}
		if len(input) > maxLine {
			return interlock.Action{}, interlock.Errorf(interlock.CodeLimited, "/input", "is longer than %d bytes", maxLine)
		}
	}
	dir := c.Dir
	if dir != "" {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return interlock.Action{}, interlock.Errorf(interlock.CodeInvalid, "--dir", "can't be made absolute")
		}
		dir = absolute
	}
	return ActionOf(c.Kind, dir, input)
}

// refuse answers input that is no action: as an object on --json, and always on the exit status.
func (c *CheckCommand) refuse(p *cli.Program, err error) error {
	if c.JSON {
		if writeErr := cli.WriteLine(p.Stdout, refusalOf(nil, err)); writeErr != nil {
			return writeErr
		}
	}
	return err
}

// stream judges line after line in constant memory. A line that can't be judged is answered as a refusal in its place,
// because one bad line must not silence the rest.
func (c *CheckCommand) stream(p *cli.Program, judge judgeFunc, hear hearFunc) error {
	in := bufio.NewReaderSize(p.Stdin, 64<<10)
	out := bufio.NewWriterSize(p.Stdout, 64<<10)
	refused := 0
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !isRefusal(err) {
			return fmt.Errorf("reading standard input: %w", err)
		}
		if err == nil || errors.Is(err, io.EOF) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
		}
		answer, heard := checkLine(line, err, judge, hear)
		if answer.Error != nil {
			refused++
		}
		var printed any = answer
		if heard != nil {
			printed = heard
		}
		if err := cli.WriteLine(out, printed); err != nil {
			return err
		}
		if in.Buffered() == 0 { // nothing more waits: let an interactive caller have its answer
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if refused > 0 {
		return fmt.Errorf("%d lines could not be judged and were refused", refused)
	}
	return nil
}

// checkLine answers one line: what was proposed in it, or, in heard, that what it tells was taken in.
func checkLine(line []byte, readErr error, judge judgeFunc, hear hearFunc) (answer checkAnswer, heard *checkHeard) {
	if isRefusal(readErr) {
		return refusalOf(nil, readErr), nil
	}
	var request checkRequest
	if err := strictjson.DecodeLimited(line, &request, strictjson.Limits{Bytes: maxLine, String: maxLine}); err != nil {
		return refusalOf(nil, err), nil
	}
	if request.tells() {
		told, err := hear(request)
		if err != nil {
			return refusalOf(request.ID, err), nil
		}
		return checkAnswer{}, &told
	}
	action, err := admission.ParseAction(request.Kind, request.Input, request.Dir)
	if err != nil {
		return refusalOf(request.ID, err), nil
	}
	return answerOf(request.ID, judge(action, request)), nil
}

// readLine returns the next line without its end. A line over maxLine is read past and refused.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, over, err := rpc.ReadLine(in, maxLine-1, nil) // the bound counts the end of the line
	if over {
		return nil, interlock.Errorf(interlock.CodeLimited, "", "the line is longer than %d bytes", maxLine)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func isRefusal(err error) bool {
	var e *interlock.Error
	return errors.As(err, &e)
}

func answerOf(id json.RawMessage, d checked) checkAnswer {
	return checkAnswer{ID: id, Verdict: d.Verdict, Findings: cli.OrEmpty(d.Findings), Impacts: cli.OrEmpty(d.Impacts), Risk: d.Risk,
		Danger: d.Danger, Digest: d.Action, Micros: d.took.Microseconds(), Explanation: d.why, Classified: d.text}
}

func refusalOf(id json.RawMessage, err error) checkAnswer {
	answer := checkAnswer{ID: id, Verdict: interlock.Deny, Findings: []interlock.Finding{}, Impacts: []interlock.Impact{},
		Danger: interlock.DangerForbidden,
		Error:  &checkError{Code: interlock.CodeInternal, Message: "the input could not be judged"}}
	var e *interlock.Error
	if errors.As(err, &e) {
		answer.Error = &checkError{Code: e.Code, Field: e.Field, Message: e.Message}
	}
	return answer
}
