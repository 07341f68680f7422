package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/mcpaql/published"
)

// A Judgement is what was seen of one clause.
type Judgement struct {
	ID     string
	Must   bool // a failure is a failure of the whole
	Passed bool
	Seen   string // what was seen; of a failure, what was wrong
}

// A judge collects judgements. The first fault of a clause decides about it.
type judge struct {
	shapes published.Shapes
	bundle Bundle
	list   map[string]any // data of the operations list
	out    []Judgement
}

// Judge says of every clause that a client can see whether a server keeps it: by the evidence that was collected of it, and by
// driving a session that nobody needs afterwards, since its agent is paused and then stopped.
func Judge(ctx context.Context, b Bundle, session *mcp.ClientSession) ([]Judgement, error) {
	shapes, err := published.Load()
	if err != nil {
		return nil, err
	}
	j := &judge{shapes: shapes, bundle: b}
	var list struct{ Data map[string]any }
	if err := json.Unmarshal(b.Introspection.OperationsList, &list); err != nil {
		return nil, fmt.Errorf("reading the operations list: %w", err)
	}
	j.list = list.Data
	j.introspection()
	j.calls()
	c, err := newClient(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, drive := range []func(context.Context, *client) error{j.steps, j.pause, j.stop} {
		if err := drive(ctx, c); err != nil {
			return nil, err
		}
	}
	return j.out, nil
}

// must and should judge one clause by what is wrong with it; nothing is wrong where faults hold no text.
func (j *judge) must(id, seen string, faults ...string)   { j.judged(id, true, seen, faults) }
func (j *judge) should(id, seen string, faults ...string) { j.judged(id, false, seen, faults) }

func (j *judge) judged(id string, must bool, seen string, faults []string) {
	faults = slices.DeleteFunc(slices.Clone(faults), func(f string) bool { return f == "" })
	one := Judgement{ID: id, Must: must, Passed: len(faults) == 0, Seen: seen}
	if !one.Passed {
		one.Seen = strings.Join(faults, "; ")
	}
	j.out = append(j.out, one)
}

// unless is a fault that is none where something holds.
func unless(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (j *judge) fits(shape string, raw []byte) string {
	return strings.Join(j.shapes.Check(shape, raw), "; ")
}

// protocol is a member of what the operations list says of the whole.
func (j *judge) protocol(path ...string) any {
	value := j.list["_protocol"]
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// introspection judges what the server says of itself.
func (j *judge) introspection() {
	b := j.bundle
	j.must("AQL-3.3", "endpoint modes "+strings.Join(b.EndpointModes, ", "), unless(len(b.EndpointModes) > 0, "no endpoint mode is served"))
	j.should("AQL-3.3-both", "tools for each category, and one tool", unless(slices.Contains(b.EndpointModes, "single") &&
		slices.Contains(b.EndpointModes, "crude"), "only %v", b.EndpointModes))
	j.must("AQL-7.2", "types and operations, whole and by name", j.fits("IntrospectionSuccess", b.Introspection.TypesList))
	j.must("AQL-7.3", fmt.Sprintf("the list of %d operations is as published", len(b.Introspection.OperationDetails)),
		j.fits("IntrospectionSuccess", b.Introspection.OperationsList),
		unless(j.protocol("version") != nil && j.protocol("limits") != nil, "_protocol names no version or no limits"))
	var faults []string
	stands := map[string]string{}
	for _, raw := range b.Introspection.OperationDetails {
		faults = append(faults, j.fits("OperationDetails", raw))
		var d detail
		if err := json.Unmarshal(raw, &d); err == nil {
			stands[d.Name] = d.Endpoint
			if d.Name == "record_execution_step" {
				defer j.stepParameters(d)
			}
		}
	}
	j.must("AQL-7.4", fmt.Sprintf("%d details, no member beside those published", len(faults)), faults...)
	j.must("AQL-8.5.4a", "record_execution_step on create", unless(stands["record_execution_step"] == "create",
		"record_execution_step stands on %q", stands["record_execution_step"]))
	faults = nil
	for _, name := range []string{"execute_agent", "complete_execution", "abort_execution"} {
		faults = append(faults, unless(stands[name] == "execute", "%s stands on %q", name, stands[name]))
	}
	j.must("AQL-8.5.4b", "execute_agent, complete_execution and abort_execution on execute", faults...)
	mode, _ := j.protocol("capabilities", "execution_safety_loop").(string)
	known := unless(slices.Contains(j.shapes.Values("SafetyLoopMode"), mode), "execution_safety_loop is %q", mode)
	j.must("AQL-8.6.1", "execution_safety_loop: "+mode, known)
	j.should("AQL-8.6.1c", "execution_safety_loop: "+mode, known)
	j.must("AQL-8.6.7", "execution_safety_loop: "+mode, known)
	danger, _ := j.protocol("danger").(map[string]any)
	faults = []string{unless(len(danger) == len(stands), "%d operations, danger of %d", len(stands), len(danger))}
	for _, one := range danger {
		faults = append(faults, strings.Join(j.shapes.CheckValue("DangerMetadata", one), "; "))
	}
	j.must("AQL-D-7.1-5", fmt.Sprintf("the danger of %d operations", len(danger)), faults...)
}

func (j *judge) stepParameters(d detail) {
	var faults []string
	for name, required := range map[string]bool{"element_name": true, "next_action_hint": true, "step_description": false, "outcome": false,
		"findings": false} {
		p, known := d.parameter(name)
		faults = append(faults, unless(known && p.Required == required, "%s: known %t, required %t", name, known, p.Required))
	}
	slices.Sort(faults)
	j.must("AQL-8.6.3", "element_name and next_action_hint required, step_description, outcome and findings taken", faults...)
}

// calls judges how wrong calls and batches are answered.
func (j *judge) calls() {
	code := func(raw json.RawMessage) string {
		var a answer
		if err := json.Unmarshal(raw, &a); err != nil {
			return ""
		}
		return a.Error.Code
	}
	var unknown, codes, results []string
	for _, test := range j.bundle.ParameterTests.UnknownParameter {
		unknown = append(unknown, unless(code(test.Response) == "VALIDATION_UNKNOWN_PARAM", "%s: %s", test.Operation, code(test.Response)))
	}
	j.must("AQL-4.6", fmt.Sprintf("%d operations refuse a parameter that nobody knows", len(unknown)), unknown...)
	for _, test := range j.bundle.ErrorTests {
		results = append(results, j.fits("ResultFailure", test.Response))
		codes = append(codes, unless(slices.Contains(j.shapes.Values("PublishedCode"), code(test.Response)), "%s: %s", test.Name, code(test.Response)))
		switch test.Name {
		case "wrong-endpoint":
			var a answer
			err := json.Unmarshal(test.Response, &a)
			j.must("AQL-6.2", "refused with the endpoint it belongs to", unless(err == nil && a.Error.Code == "VALIDATION_ENDPOINT_MISMATCH",
				"answered with %s", a.Error.Code), strings.Join(j.shapes.CheckValue("EndpointMismatchDetails", any(a.Error.Details)), "; "))
		case "too-deep":
			j.must("AQL-4.7.5", "too deep a request is refused by the limit's name", unless(code(test.Response) == "VALIDATION_PAYLOAD_TOO_LARGE" &&
				strings.Contains(string(test.Response), "max_nesting_depth"), "answered %s", test.Response))
		}
	}
	j.must("AQL-5.1", fmt.Sprintf("%d failures in the published form", len(results)), results...)
	j.must("AQL-E-1", fmt.Sprintf("%d failures with published codes", len(codes)), codes...)
	j.should("AQL-7.5", "a batch in order, one failure in it", j.fits("OperationResult", j.bundle.BatchExample),
		j.fits("BatchResult", j.bundle.BatchExample))
}

// said is what a step was answered.
func said(a answer) string { return fmt.Sprintf("%.300s", a.raw) }

// step reports an action of the judge's execution.
func step(ctx context.Context, c *client, element, hint string, more ...string) (answer, error) {
	params := map[string]any{"element_name": element, "next_action_hint": hint}
	for n := 0; n+1 < len(more); n += 2 {
		params[more[n]] = more[n+1]
	}
	return c.call(ctx, "record_execution_step", params)
}

// steps judges an execution that goes well.
func (j *judge) steps(ctx context.Context, c *client) error {
	early, err := step(ctx, c, "judge", "git status")
	if err != nil {
		return err
	}
	begun, err := c.must(ctx, "execute_agent", map[string]any{"element_name": "judge"})
	if err != nil {
		return err
	}
	first, err := step(ctx, c, "judge", "git status")
	if err != nil {
		return err
	}
	data, err := json.Marshal(first.Data)
	if err != nil {
		return fmt.Errorf("reading a directive: %w", err)
	}
	directive := j.fits("AutonomyDirective", data)
	j.must("AQL-8.7.1", "a step is answered with a directive: continue "+fmt.Sprint(first.Data["continue"]), directive)
	j.should("AQL-8.7.1s", "stopped, stepsRemaining, nextStepRisk, notifications", directive,
		unless(first.Data["stepsRemaining"] != nil && first.Data["nextStepRisk"] != nil && first.Data["notifications"] != nil, "%s", said(first)))
	ended, err := c.call(ctx, "complete_execution", map[string]any{"element_name": "judge"})
	if err != nil {
		return err
	}
	late, err := step(ctx, c, "judge", "git status")
	if err != nil {
		return err
	}
	j.must("AQL-8.6.2", "a step before the beginning and one after the end are errors",
		unless(!early.Success, "a step without an execution: %s", said(early)), unless(begun.Data["status"] == "running", "begun: %s", said(begun)),
		unless(ended.Data["status"] == "completed", "ended: %s", said(ended)), unless(!late.Success, "a step after the end: %s", said(late)))
	return nil
}

// pause judges what a reported failure does, and whatever an agent could try about it.
func (j *judge) pause(ctx context.Context, c *client) error {
	if _, err := c.must(ctx, "execute_agent", map[string]any{"element_name": "judge"}); err != nil {
		return err
	}
	paused, err := step(ctx, c, "judge", "git status", "outcome", "failure")
	if err != nil {
		return err
	}
	j.should("AQL-8.7.2-2", "a reported failure pauses", unless(paused.Success && paused.Data["continue"] == false, "%s", said(paused)))
	request, _ := paused.Data["request_id"].(string)
	own, err := c.call(ctx, "confirm_operation", map[string]any{"request_id": request})
	if err != nil {
		return err
	}
	j.must("AQL-8.7.3s", "its own confirmation is refused", unless(!own.Success, "%s", said(own)))
	var faults []string
	for _, try := range []struct {
		element, hint string
		more          []string
	}{{"judge", "git status", []string{"outcome", "success"}}, {"judge", "git status", nil}, {"judge", "reading README.md", nil},
		{"another", "reading README.md", nil}} {
		if try.element == "another" {
			if _, err := c.must(ctx, "execute_agent", map[string]any{"element_name": try.element}); err != nil {
				return err
			}
		}
		a, err := step(ctx, c, try.element, try.hint, try.more...)
		if err != nil {
			return err
		}
		faults = append(faults, unless(a.Success && a.Data["continue"] == false, "%s %v went on", try.hint, try.more))
	}
	j.must("AQL-8.6.4", "a pause outlasts other outcomes, other steps and a new execution", faults...)
	return nil
}

// stop judges what a catastrophe does.
func (j *judge) stop(ctx context.Context, c *client) error {
	stopped, err := step(ctx, c, "judge", "rm -rf /")
	if err != nil {
		return err
	}
	kind, challenge := "", ""
	notes, _ := stopped.Data["notifications"].([]any)
	for _, note := range notes {
		one, _ := note.(map[string]any)
		metadata, _ := one["metadata"].(map[string]any)
		if id, _ := metadata["verificationId"].(string); id != "" && challenge == "" {
			kind, _ = one["type"].(string)
			challenge = id
		}
	}
	j.must("AQL-8.8.1", "stopped with a danger_zone notification", unless(stopped.Data["stopped"] == true && kind == "danger_zone", "%s", said(stopped)))
	j.must("AQL-8.8.2d", "the notification names challenge "+challenge, unless(challenge != "", "%s", said(stopped)))
	again, err := c.call(ctx, "execute_agent", map[string]any{"element_name": "new name"})
	if err != nil {
		return err
	}
	j.must("AQL-8.8.3a", "a stopped agent begins nothing under another name", unless(!again.Success, "%s", said(again)))
	guess, err := c.call(ctx, "verify_challenge", map[string]any{"challenge_id": challenge, "code": "0000-0000-0000-0000-0000-0000-0000-0000"})
	if err != nil {
		return err
	}
	j.must("AQL-8.8.2c", "a wrong code is refused", unless(!guess.Success, "%s", said(guess)))
	return nil
}
