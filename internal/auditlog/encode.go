package auditlog

import (
	"encoding/json"

	"interlock"
	"interlock/internal/strictjson"
)

// encode writes a decision's payload by hand, members in canonical order, because every decision is recorded; a test
// holds it to what the general encoder would write.
func (d *decisionWire) encode() (json.RawMessage, error) {
	if text, ok := strictjson.Text(d.write); ok {
		return text, nil
	}
	return strictjson.Marshal(d)
}

func (d *decisionWire) write(w *strictjson.Writer) {
	w.Open()
	w.OptionalString("accountable_human", d.Accountable)
	w.OptionalString("block", d.Block)
	if d.Canary {
		w.Name("canary")
		w.Bool(true)
	}
	if len(d.Commits) > 0 {
		w.Name("commits")
		w.General(d.Commits)
	}
	if d.Danger != nil {
		w.Name("danger_audit")
		d.Danger.write(w)
	}
	w.Name("decision")
	writeDecision(w, &d.Decision)
	if d.Basis != nil {
		w.Name("delegation")
		w.General(d.Basis)
	}
	w.OptionalString("door", d.Door)
	w.Name("execution")
	d.Execution.write(w)
	if d.Failed != nil {
		w.Name("failed")
		w.General(d.Failed)
	}
	w.Name("final_decision")
	w.Named(d.Final)
	w.Name("gate_1")
	d.Gate1.write(w)
	w.Name("gate_2")
	d.Gate2.write(w)
	w.OptionalStrings("grants", d.Grants)
	w.OptionalString("harness_event", d.Carrier)
	w.Judgments("judgments", d.Judgments)
	if d.Loop != nil {
		w.Name("loop")
		w.General(d.Loop)
	}
	if d.Origin != nil {
		w.Name("origin")
		w.General(d.Origin)
	}
	if d.Pin != nil {
		w.Name("pin")
		w.Pin(d.Pin)
	}
	if d.Plan != nil {
		w.Name("plan")
		w.General(d.Plan)
	}
	w.Name("proposed")
	d.Proposed.write(w)
	if len(d.Recent) > 0 {
		w.Name("recent")
		strictjson.List(w, d.Recent, (*strictjson.Writer).PastAction)
	}
	w.OptionalString("request", d.Request)
	w.Name("requester")
	writeRequester(w, &d.Requester)
	w.OptionalStrings("suppressions", d.Orders)
	if len(d.Cut) > 0 {
		w.Name("truncated")
		strictjson.List(w, d.Cut, writeCut)
	}
	if d.Upstream != nil {
		w.Name("upstream")
		w.Upstream(d.Upstream)
	}
	w.OptionalStrings("used_events", d.Used)
	w.Name("user")
	w.String(d.User)
	if len(d.Uses) > 0 {
		w.Name("uses")
		strictjson.List(w, d.Uses, writeTaken)
	}
	w.OptionalString("workspace", d.Workspace)
	w.Close()
}

func (d *dangerWire) write(w *strictjson.Writer) {
	w.Open()
	w.Name("adapter_name")
	w.String(d.Adapter)
	w.Name("adapter_trust")
	w.Named(d.Trust)
	w.OptionalString("confirmation_token", d.Token)
	w.Name("danger_level")
	w.Int(int64(d.Level))
	w.Name("operation")
	w.String(d.Operation)
	w.Name("outcome")
	w.String(d.Outcome)
	if len(d.Parameters) > 0 {
		w.Name("parameters")
		w.Raw(d.Parameters)
	}
	w.Name("timestamp")
	w.String(d.Timestamp)
	w.OptionalString("user_id", d.User)
	w.Close()
}

func (e *executionWire) write(w *strictjson.Writer) {
	w.Open()
	w.OptionalString("reason", e.Reason)
	w.OptionalString("recorded_in", e.RecordedIn)
	w.Name("status")
	w.String(e.Status)
	w.Close()
}

func (g *gateWire) write(w *strictjson.Writer) {
	w.Open()
	optionalInt(w, "layer", int64(g.Layer))
	w.OptionalString("reason", g.Reason)
	w.Name("result")
	w.String(g.Result)
	w.OptionalString("rule", g.Rule)
	w.Close()
}

func (p *proposedWire) write(w *strictjson.Writer) {
	w.Open()
	w.Name("action_type")
	w.String(string(p.Type))
	w.Name("digest")
	w.String(string(p.Digest))
	w.Name("payload")
	writeAction(w, &p.Payload)
	w.Close()
}

func writeAction(w *strictjson.Writer, a *interlock.Action) {
	w.Open()
	if len(a.Arguments) > 0 {
		w.Name("arguments")
		w.Raw(a.Arguments)
	}
	w.OptionalString("dir", a.Dir)
	w.OptionalString("hint", a.Hint)
	w.OptionalString("input", a.Input)
	w.Name("kind")
	w.String(string(a.Kind))
	w.OptionalString("tool", a.Tool)
	w.Close()
}

func writeRequester(w *strictjson.Writer, r *interlock.Requester) {
	w.Open()
	w.Name("agent")
	w.String(r.Agent)
	w.OptionalString("call", r.Call)
	w.Name("principal")
	w.String(r.Principal)
	w.OptionalString("run", r.Run)
	w.Close()
}

func writeTaken(w *strictjson.Writer, t *interlock.Taken) {
	w.Open()
	w.OptionalString("currency", t.Currency)
	w.Name("limit")
	w.String(t.Limit)
	w.Name("measure")
	w.String(t.Measure)
	if t.Monitored {
		w.Name("monitored")
		w.Bool(true)
	}
	w.OptionalStrings("of", t.Of)
	w.Name("per")
	w.String(t.Per)
	w.Name("take")
	w.Int(t.Take)
	optionalInt(w, "window_ns", int64(t.Window))
	w.Close()
}

func writeCut(w *strictjson.Writer, c *cutWire) {
	w.Open()
	optionalInt(w, "bytes", int64(c.Bytes))
	w.OptionalString("digest", c.Digest)
	w.Name("field")
	w.String(c.Field)
	optionalInt(w, "items", int64(c.Items))
	w.Close()
}

func writeDecision(w *strictjson.Writer, d *interlock.Decision) {
	w.Open()
	w.Name("answer")
	w.Named(d.Answer)
	w.OptionalString("approval", d.Approval)
	w.Name("danger")
	w.Named(d.Danger)
	w.Name("digest")
	w.String(string(d.Action))
	w.Name("findings")
	strictjson.List(w, d.Findings, writeFinding)
	w.OptionalString("grant", d.Grant)
	w.Name("impacts")
	strictjson.List(w, d.Impacts, (*strictjson.Writer).Impact)
	w.Name("mode")
	w.Named(d.Mode)
	optionalObligations(w, d.Obligations)
	w.Name("profile")
	w.String(d.Profile)
	w.Name("risk")
	w.Int(int64(d.Risk))
	w.Name("ruleset")
	w.String(string(d.Ruleset))
	w.Name("snapshot")
	w.String(string(d.Snapshot))
	if d.Tier != interlock.TierAdvisory {
		w.Name("tier")
		w.Named(d.Tier)
	}
	w.Name("verdict")
	w.Named(d.Verdict)
	w.Close()
}

func writeFinding(w *strictjson.Writer, f *interlock.Finding) {
	w.Open()
	w.Name("gate")
	w.String(f.Gate)
	if f.Heuristic {
		w.Name("heuristic")
		w.Bool(true)
	}
	if len(f.Impacts) > 0 {
		w.Name("impacts")
		strictjson.List(w, f.Impacts, func(w *strictjson.Writer, n *int) { w.Int(int64(*n)) })
	}
	w.Name("layer")
	w.Int(int64(f.Layer))
	optionalObligations(w, f.Obligations)
	w.Name("reason")
	w.String(f.Reason)
	w.Name("rule")
	w.String(f.Rule)
	optionalInt(w, "sublayer", int64(f.Sublayer))
	w.OptionalString("suggestion", f.Suggestion)
	w.OptionalStrings("tags", f.Tags)
	w.Name("verdict")
	w.Named(f.Verdict)
	w.Close()
}

func optionalObligations(w *strictjson.Writer, obligations []interlock.Obligation) {
	if len(obligations) == 0 {
		return
	}
	w.Name("obligations")
	strictjson.List(w, obligations, func(w *strictjson.Writer, o *interlock.Obligation) {
		w.Open()
		w.OptionalString("note", o.Note)
		w.Name("type")
		w.String(o.Type)
		w.Close()
	})
}

func optionalInt(w *strictjson.Writer, name string, value int64) {
	if value != 0 {
		w.Name(name)
		w.Int(value)
	}
}
