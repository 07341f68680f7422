package mcpaql

import (
	"context"
	"encoding/json"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// SpecVersion is the version of MCP-AQL this door speaks, and Conformance the level it claims.
const (
	SpecVersion = "1.0.0-draft"
	Conformance = "level-2"
)

// ASAVersion is the version of the Asimov Safety Architecture that a profile goes by which wants a judge's Allow (ASA 20). What of it
// waits for components on several machines, `interlock conformance asa` says.
const ASAVersion = "draft-baysal-asimov-safety-architecture-00"

// introspect answers what there is to know without asking anybody (AQL-7.2).
func (s *Server) introspect(ctx context.Context, c Caller, a arguments) (any, error) {
	name, whole := a["name"].(string)
	switch {
	case a.text("query") == "types" && whole:
		return map[string]any{"type": s.typeDetails(name)}, nil
	case a.text("query") == "types":
		return map[string]any{"types": s.typeList()}, nil
	case whole:
		return s.operationDetails(name), nil
	default:
		return s.operationList(ctx, c)
	}
}

// operationInfo is an operation in the list. Category is one of the specification's effects, in capitals; Endpoint names the
// family of operations; the standard profile has one for each category.
type operationInfo struct {
	Name        string   `json:"name"`
	Category    Endpoint `json:"semantic_category"`
	Endpoint    string   `json:"endpoint"`
	Description string   `json:"description"`
}

type dangerInfo struct {
	Level   interlock.Danger `json:"level"`
	Reasons []string         `json:"reasons"`

	Confirmation string   `json:"confirmation_message,omitempty"`
	Cooldown     int      `json:"cooldown_seconds,omitempty"`
	Reauth       bool     `json:"requires_reauth,omitempty"`
	Audit        []string `json:"audit_context,omitempty"`
}

// dangerOf is an operation's danger as it is in force: its own, and what operators' rules declare of it, which only adds.
func (s *Server) dangerOf(o operation) dangerInfo {
	info := dangerInfo{Level: o.danger, Reasons: append([]string{}, o.reasons...), Confirmation: o.message}
	for _, d := range s.config.Rules().Danger() {
		if !d.User || !ruleset.Glob(d.Name, o.name) {
			continue
		}
		info.Level = max(info.Level, d.Level)
		info.Reasons, info.Audit = append(info.Reasons, d.Reasons...), append(info.Audit, d.Audit...)
		info.Cooldown, info.Reauth = max(info.Cooldown, int(time.Duration(d.Cooldown)/time.Second)), info.Reauth || d.Reauth
		if d.Message != "" {
			info.Confirmation = d.Message
		}
	}
	return info
}

// declarations are the danger levels operators have declared, with their conditions, cooldowns and approvers.
func (s *Server) declarations() []ruleset.DangerRule {
	out := []ruleset.DangerRule{}
	for _, d := range s.config.Rules().Danger() {
		if d.User {
			out = append(out, d)
		}
	}
	return out
}

// operationList is the list of operations with what holds for all of them (AQL-7.3).
func (s *Server) operationList(ctx context.Context, c Caller) (any, error) {
	list := []operationInfo{}
	danger, permissions := map[string]dangerInfo{}, map[string]Permission{}
	for _, o := range s.operations {
		list = append(list, operationInfo{o.name, o.endpoint, o.endpoint.category(), o.description})
		danger[o.name] = s.dangerOf(o)
		permissions[o.name] = o.permission
	}
	loop, err := s.loopOf(ctx, c)
	if err != nil {
		return nil, err
	}
	mode := "semantic"
	if s.config.Single {
		mode = "single"
	}
	protocol := map[string]any{
		"version": SpecVersion, "conformance": Conformance, "mode": mode,
		"capabilities": map[string]any{"batch": true, "field_selection": true, "confirmation": true,
			"dangerous_operations":  true,
			"execution_safety_loop": s.config.Mode.String()},
		"limits": s.config.Limits, "concurrency": "resource-locked", "danger": danger, "permissions": permissions,
		"safety_loop": s.safetyLoop(loop),
	}
	if profile, known := s.config.Rules().Profile(s.config.Profile); known && profile.Judge == ruleset.JudgeRequired {
		protocol["conformsTo"] = ASAVersion
	}
	return map[string]any{"_protocol": protocol, "operations": list}, nil
}

// safetyLoop is how the loop is set for the caller, and what holds where nothing is set for it (AQL-8.6.7, AQL-8.7.2-1,
// AQL-8.7.4).
func (s *Server) safetyLoop(loop ruleset.LoopSetting) map[string]any {
	set := s.config.Rules() // once: they may change
	policy, rules, all := set.Policy(), set.LoopRules(), set.Loop(interlock.AgentRecord{})
	patterns := func(a, b []string) []string { return append(append([]string{}, a...), b...) }
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	return map[string]any{
		"mode": s.config.Mode.String(), "enforced": s.config.Mode == interlock.Enforcing,
		"maxAutonomousSteps": loop.Steps, "tolerance": loop.Tolerance,
		"defaults":   map[string]any{"maxAutonomousSteps": all.Steps, "tolerance": all.Tolerance},
		"tolerances": map[string]int{"conservative": 25, "moderate": 50, "aggressive": 75},
		"patterns": map[string]any{"deny": patterns(policy.Deny, loop.Policy.Deny),
			"requiresApproval": patterns(policy.RequiresApproval, loop.Policy.RequiresApproval),
			"autoApprove":      patterns(policy.AutoApprove, loop.Policy.AutoApprove)},
		"escalation": rules.Escalation, "score": rules.Score, "cumulative": rules.Cumulative, "danger": s.declarations(),
		"tiers":   map[string][2]int{"advisory": {0, 30}, "confirm": {31, 60}, "verify": {61, 85}, "danger_zone": {86, 100}},
		"stages":  []string{"step_limit", "previous_outcome", "patterns", "risk_tier", "tolerance"},
		"profile": s.config.Profile, "ruleset": string(set.Digest()),
		"executions": map[string]int{"open": s.config.Executions, "idle_seconds": seconds(s.config.Idle)},
		"confirmation_tokens": map[string]any{"for_permissions": s.config.Acknowledge,
			"ttl_seconds":             seconds(s.config.Tokens.TTL),
			"forbidden_ttl_seconds":   seconds(s.config.Tokens.ForbiddenTTL),
			"clock_tolerance_seconds": seconds(s.config.Tokens.Tolerance)},
	}
}

type operationDetail struct {
	Name        string         `json:"name"`
	Category    Endpoint       `json:"semantic_category"`
	Endpoint    string         `json:"endpoint"`
	Tool        string         `json:"mcpTool"`
	Description string         `json:"description"`
	Permissions permissions    `json:"permissions"`
	Parameters  []Parameter    `json:"parameters"`
	Returns     typeInfo       `json:"returns"`
	Examples    []example      `json:"examples"`
	Lifecycle   *lifecycleInfo `json:"lifecycle,omitempty"`
}

type permissions struct {
	ReadOnly    bool `json:"readOnly"`
	Destructive bool `json:"destructive"`
}

type lifecycleInfo struct {
	States   []State `json:"states"`
	Cancel   bool    `json:"supports_cancel"`
	Retry    bool    `json:"supports_retry"`
	Progress bool    `json:"progress_reporting"`
}

// operationDetails is one operation whole. The published schema closes it and what it is in, so that its danger is told in
// the list's _protocol and not here. One that does not exist is null (introspection 4.3).
func (s *Server) operationDetails(name string) any {
	o, known := s.find(name)
	if !known {
		return map[string]any{"operation": nil}
	}
	detail := operationDetail{Name: o.name, Category: o.endpoint, Endpoint: o.endpoint.category(), Tool: s.toolOf(o),
		Description: o.description,
		Permissions: permissions{ReadOnly: o.endpoint == Read, Destructive: o.endpoint == Execute}, Parameters: o.parameters,
		Returns: o.returns, Examples: o.examples}
	if o.lifecycle {
		detail.Lifecycle = &lifecycleInfo{States: []State{Pending, Running, Paused, Completed, Failed, Cancelled},
			Cancel: true, Progress: true}
	}
	return map[string]any{"operation": detail}
}

type typeInfo struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"` // enum, object, scalar or union
	Description string `json:"description,omitempty"`
}

type typeDetail struct {
	typeInfo
	Values  []string    `json:"values,omitempty"`
	Fields  []Parameter `json:"fields,omitempty"`
	Members []string    `json:"members,omitempty"`
}

func (s *Server) typeList() []typeInfo {
	list := []typeInfo{}
	for _, t := range s.types() {
		list = append(list, t.typeInfo)
	}
	return list
}

func (s *Server) typeDetails(name string) any {
	for _, t := range s.types() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// The presets of field selection.
const (
	presetMinimal  = "minimal"
	presetStandard = "standard"
	presetFull     = "full"
)

// selected returns the named members of an answer, in their places. Names that lead nowhere are left out without an error,
// as the specification has it; a list is selected from element by element.
func selected(data any, fields []string) (any, error) {
	if len(fields) == 0 || len(fields) == 1 && (fields[0] == presetStandard || fields[0] == presetFull) {
		return data, nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	if len(fields) == 1 && fields[0] == presetMinimal {
		fields = []string{"operations.name", "operation.name", "operation.description", "types.name", "type.name", "type.kind"}
	}
	paths := [][]string{}
	for _, f := range fields {
		paths = append(paths, strings.Split(f, "."))
	}
	return pick(tree, paths), nil
}

// pick keeps of a value what lies on the paths. A member that is asked for whole stays whole. At the top of an answer
// there is one member with what was asked for, so a path may leave that out.
func pick(value any, paths [][]string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for n := range v {
			out[n] = pick(v[n], paths)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			var inner [][]string
			whole := false
			for _, path := range paths {
				if path[0] != name {
					continue
				}
				if len(path) == 1 {
					whole = true
				} else {
					inner = append(inner, path[1:])
				}
			}
			switch {
			case whole:
				out[name] = member
			case len(inner) > 0:
				out[name] = pick(member, inner)
			}
		}
		return out
	default:
		return value
	}
}

// types lists every type an answer or a parameter is made of.
func types() []typeDetail {
	field := func(name, kind, description string) Parameter {
		return Parameter{Name: name, Type: kind, Required: true, Description: description}
	}
	optional := func(name, kind, description string) Parameter {
		return Parameter{Name: name, Type: kind, Description: description}
	}
	object := func(name, description string, fields ...Parameter) typeDetail {
		return typeDetail{typeInfo: typeInfo{name, "object", description}, Fields: fields}
	}
	enum := func(name, description string, values ...string) typeDetail {
		return typeDetail{typeInfo: typeInfo{name, "enum", description}, Values: values}
	}
	union := func(name, description string, members ...string) typeDetail {
		return typeDetail{typeInfo: typeInfo{name, "union", description}, Members: members}
	}
	var codes []string
	for _, code := range Codes() {
		codes = append(codes, string(code))
	}
	all := []typeDetail{
		object("OperationInput", "What every tool takes.", field("operation", "string", "The operation to carry out."),
			optional("params", "object", "Its parameters; they may also stand beside operation, and the one in params wins.")),
		union("OperationResult", "What every tool answers.", "OperationSuccess", "OperationFailure"),
		object("OperationSuccess", "The operation was carried out.", field("success", "boolean", "true"),
			field("data", "object", "What the operation returns.")),
		object("OperationFailure", "The operation was not carried out.", field("success", "boolean", "false"),
			field("error", "ErrorDetail", "What is wrong and how to mend it.")),
		object("ErrorDetail", "What is wrong.", field("code", "ErrorCode", "Machine-readable."),
			field("message", "string", "Names the parameter and what is expected."), optional("details", "object", "By code.")),
		enum("ErrorCode", "Codes of failures.", codes...),
		enum("EndpointCategory", "Categories of operations; UPDATE and DELETE have none here.", "CREATE", "READ", "UPDATE",
			"DELETE", "EXECUTE"),
		object("EndpointPermissions", "What an operation may do.", field("readOnly", "boolean", "It changes nothing."),
			field("destructive", "boolean", "It may end or replace something.")),
		union("IntrospectionData", "What introspect returns.", "OperationsList", "OperationDetail", "TypesList", "TypeDetail"),
		object("FieldSelection", "The fields parameter of READ operations.",
			optional("presets", "array", "minimal, standard, full"),
			optional("fields", "array", "Names with dots for what is inside.")),
		object("AutonomyDirective", "Whether a reported action may be carried out.",
			field("continue", "boolean", "Act only if this is true."),
			field("stopped", "boolean", "The agent is stopped until a human lets it go on."),
			optional("reason", "string", "What decided."),
			field("factors", "array", "Everything that contributed, in plain words."),
			field("stepsRemaining", "integer", "Steps left without a human."),
			field("nextStepRisk", "SafetyTier", "How much of a human the action needs."),
			field("notifications", "array", "AgentNotification values."),
			optional("request_id", "string", "The approval request that waits for an operator."),
			field("next", "string", "What to do now."),
			field("execution_id", "string", "The execution."), field("status", "ExecutionStatus", "Where it stands."),
			field("progress", "object", "Steps so far.")),
		enum("SafetyTier", "Tiers by risk score: 0 to 30, 31 to 60, 61 to 85, 86 to 100.", "advisory", "confirm",
			"verify", "danger_zone"),
		object("AgentNotification", "Something learned only by reporting.",
			Parameter{Name: "type", Type: "string", Required: true,
				Enum: []string{permissionPending, autonomyPause, dangerZone, statusNote, errorNote}},
			field("message", "string", "In plain words."),
			field("metadata", "object", "operation, reason, level and verificationId where they apply."),
			field("timestamp", "string", "RFC 3339.")),
		object("ExecutionState", "Where an execution stands.", field("execution_id", "string", "The handle."),
			field("status", "ExecutionStatus", "The state."),
			optional("core_status", "string", "The published state it stands for, where it is paused."),
			field("started_at", "string", "RFC 3339."),
			optional("finished_at", "string", "RFC 3339."), optional("progress", "object", "current and message.")),
		enum("ExecutionStatus", "States; paused stands for running, and the last three are final.", string(Pending),
			string(Running), string(Paused), string(Completed), string(Failed), string(Cancelled)),
		object("Verification", "What came of a code.", field("challenge_id", "string", "The challenge."),
			field("verified", "boolean", "The code was right."), field("unblocked", "boolean", "A hard block ended.")),
		object("Confirmation", "Where a request stands.", field("request_id", "string", "The request."),
			field("status", "string", "pending, approved, denied, expired or spent."),
			field("confirmed", "boolean", "A human said yes.")),
		object("Run", "A run that is registered.", field("id", "string", "What later calls name."), field("agent", "string", "Who acts in it."),
			field("status", "string", "open, completed, failed or cancelled."), optional("orchestration", "string", "The first run of its delegation."),
			optional("parent", "string", "The run it is part of."), optional("until", "string", "RFC 3339; when it ends by itself.")),
		object("Heard", "That an agent was heard.", field("heard", "boolean", "It was.")),
		object("Plan", "What a run is to do.", field("id", "string", "The plan."), field("status", "string", "waiting, accepted or refused."),
			field("steps", "array", "What was found of each step."), field("done", "integer", "How many steps have been let through."),
			optional("request", "string", "Waits for a person to acknowledge it."), optional("objections", "array", "What stands against it.")),
		object("CarriedMessage", "What was decided about a message.", field("answer", "string", "allow, or why not: ask, deny, halt."),
			optional("reason", "string", "Why not."), optional("rule", "string", "What objects."), optional("event_id", "string", "The decision."),
			optional("request_id", "string", "Waits for a person."), optional("message", "object", "The message, where it was let through."),
			optional("violation", "object", "Where it is not built as it has to be."), optional("body", "any", "JSON content."),
			optional("text", "string", "Text content."), optional("data", "string", "Other content, in base64.")),
		object("Acknowledged", "That a message is done with.", field("acknowledged", "boolean", "It is.")),
		object("WaitingMessages", "What waits for an agent.", field("messages", "array", "The messages, oldest first.")),
		enum("DangerLevel", "How much harm an operation can do.", "safe", "reversible", "destructive", "dangerous", "forbidden"),
		enum("TrustLevel", "How far an agent has been examined.", "untested", "generated", "validated",
			"community_reviewed", "certified"),
		enum("SafetyLoopMode", "What is done with verdicts.", "enforcing", "monitoring", "logging", "disabled"),
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}
