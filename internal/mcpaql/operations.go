package mcpaql

import (
	"context"
	"encoding/json"

	"interlock"
)

// An Endpoint is one of MCP-AQL's categories of operations; each is one tool in semantic mode.
type Endpoint string

// The endpoints that have operations here, in the order tools are listed. Interlock has nothing to update or delete.
const (
	Create  Endpoint = "CREATE"
	Read    Endpoint = "READ"
	Execute Endpoint = "EXECUTE"
)

// anyEndpoint is the one of single mode: every operation is on it.
const anyEndpoint Endpoint = ""

func endpoints() []Endpoint { return []Endpoint{Create, Read, Execute} }

// category is the endpoint as operations are described by it.
func (e Endpoint) category() string {
	return map[Endpoint]string{Create: "create", Read: "read", Execute: "execute"}[e]
}

// tool is the MCP tool of an endpoint.
func (e Endpoint) tool() string {
	if e == anyEndpoint {
		return "mcp_aql"
	}
	return "mcp_aql_" + e.category()
}

// A Permission says how often the client's user is asked before an operation runs (execution safety loop 4.2).
type Permission string

// The permissions.
const (
	AutoApprove      Permission = "AUTO_APPROVE"       // never
	ConfirmSession   Permission = "CONFIRM_SESSION"    // once per connection
	ConfirmSingleUse Permission = "CONFIRM_SINGLE_USE" // each time
)

// An operation is one thing an agent can ask for. The table in operations() is what routing, decoding and introspection
// all read.
type operation struct {
	name        string
	endpoint    Endpoint
	description string
	permission  Permission
	danger      interlock.Danger
	reasons     []string // why the level is what it is
	message     string   // asked before confirming; {parameter} means a value
	parameters  []Parameter
	returns     typeInfo
	examples    []example
	lifecycle   bool
	reachable   bool // declarations hold it back from nobody: it is how an agent learns what it waits for, and answers that
	introspects bool // answers with what is published of introspection, errors included
	directs     bool // answers with a directive, also where it is held back

	// run carries the operation out. It gets a requester whose Run is still empty.
	run func(s *Server, ctx context.Context, c Caller, a arguments) (any, error)
}

// An example is one call of an operation, and what it is for.
type example struct{ description, request string }

// MarshalJSON writes it as it is published: the request as an object, and never as text of one.
func (e example) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Description string          `json:"description"`
		Request     json.RawMessage `json:"request"`
	}{e.description, json.RawMessage(e.request)})
}

// operations lists every operation, in the order they are introduced to an agent.
func operations() []operation {
	return []operation{introspectOperation(), executeOperation(), stepOperation(), verifyOperation(), confirmOperation(),
		completeOperation(), abortOperation(), registerRunOperation(), endRunOperation(), heartbeatOperation(),
		submitPlanOperation(), sendMessageOperation(), receiveMessageOperation(), acknowledgeMessageOperation(), waitingMessagesOperation()}
}

func introspectOperation() operation {
	return operation{
		name: "introspect", endpoint: Read, introspects: true, reachable: true, permission: AutoApprove, danger: interlock.DangerSafe,
		description: "Discover operations, their parameters, types, limits, defaults and the mode the safety loop runs in.",
		reasons:     []string{"Reads descriptions and changes nothing"},
		parameters: []Parameter{
			{Name: "query", Type: "string", Required: true, Description: "What to list.", Enum: []string{"operations", "types"}},
			{Name: "name", Type: "string", Description: "One operation or type, to see it whole.", MaxLength: maxName},
			{Name: "fields", Type: "string|array", Items: &Parameter{Name: "field", Type: "string"},
				Description: "Members of the answer to return: minimal, standard, full, or a list of names with dots for what is inside. Default: everything."},
		},
		returns: typeInfo{Name: "IntrospectionData", Kind: "union", Description: "Lists or details of operations and types."},
		examples: []example{{"List every operation", `{"operation":"introspect","params":{"query":"operations"}}`},
			{"See one whole", `{"operation":"introspect","params":{"query":"operations","name":"record_execution_step"}}`}},
		run: (*Server).introspect,
	}
}

func executeOperation() operation {
	return operation{
		name: "execute_agent", endpoint: Execute, permission: ConfirmSingleUse,
		danger: interlock.DangerReversible, lifecycle: true,
		description: "Start a monitored execution. Returns the execution_id that every later call names.",
		reasons:     []string{"Starts an execution, which complete_execution or abort_execution ends"},
		message:     "Start a monitored execution of '{element_name}'?",
		parameters: []Parameter{
			elementName(true),
			{Name: "goal", Type: "string", Description: "What the execution is to achieve, in a sentence.", MaxLength: maxText},
			{Name: "parameters", Type: "object",
				Description: "Inputs of the task, for the record. They are not evaluated and not kept."},
		},
		returns: typeInfo{Name: "ExecutionState", Kind: "object", Description: "The execution as it is now."},
		examples: []example{{"Begin a task",
			`{"operation":"execute_agent","params":{"element_name":"release-notes","goal":"write the notes for the next release"}}`}},
		run: (*Server).execute,
	}
}

func stepOperation() operation {
	return operation{
		name: "record_execution_step", endpoint: Create, directs: true, permission: ConfirmSession,
		danger:      interlock.DangerReversible,
		description: "Report the next action before acting. Returns a directive: go on only if continue is true.",
		reasons:     []string{"Adds a record; what it reports is judged by its own effects"},
		message:     "Let '{element_name}' report its steps over this connection?",
		parameters: []Parameter{
			elementName(true),
			{Name: "next_action_hint", alias: "nextActionHint", Type: "string", Required: true, MaxLength: maxHint,
				Description: "The exact action: tool, command or statement with its target and arguments, as it will be run."},
			{Name: "step_description", alias: "stepDescription", Type: "string", MaxLength: maxText,
				Description: "Why, in a sentence. It never makes an action safer."},
			{Name: "outcome", Type: "string", Enum: []string{"success", "failure", "skipped"},
				Description: "How the step before this one ended."},
			{Name: "findings", Type: "string|array|object", Description: "What the step before showed, for the record."},
			executionID(false, "Needed if several executions of this name run."),
		},
		returns: typeInfo{Name: "AutonomyDirective", Kind: "object",
			Description: "Whether the reported action may be carried out, and why."},
		examples: []example{{"Report a command before running it",
			`{"operation":"record_execution_step","params":{"element_name":"release-notes","next_action_hint":"git log --oneline v1.2..HEAD"}}`},
			{"Report the next action, and how the one before went",
				`{"operation":"record_execution_step","params":{"element_name":"release-notes",` +
					`"next_action_hint":"write_file docs/notes.md","outcome":"success"}}`}},
		run: (*Server).step,
	}
}

func verifyOperation() operation {
	return operation{
		name: "verify_challenge", endpoint: Create, reachable: true, permission: ConfirmSession,
		danger:      interlock.DangerReversible,
		description: "Hand in the code that a human read out to you. The code reaches people over a channel you can't see; don't guess.",
		reasons:     []string{"Needs a code that only a human has; guesses are counted and limited"},
		message:     "Hand in a code for challenge '{challenge_id}'?",
		parameters: []Parameter{
			{Name: "challenge_id", alias: "challengeId", Type: "string", Required: true, MaxLength: maxName, Format: "uuid",
				Description: "verificationId of the notification."},
			{Name: "code", Type: "string", Required: true, MaxLength: maxName, Sensitive: true,
				Description: "The code as the human gave it."},
		},
		returns: typeInfo{Name: "Verification", Kind: "object", Description: "Whether the code was right."},
		examples: []example{{"Hand in a code that a human read out",
			`{"operation":"verify_challenge","params":{"challenge_id":"00000000-0000-4000-8000-000000000000","code":"as the human gave it"}}`}},
		run: (*Server).verify,
	}
}

func confirmOperation() operation {
	return operation{
		name: "confirm_operation", endpoint: Execute, reachable: true, permission: AutoApprove,
		danger:      interlock.DangerReversible,
		description: "Learn whether a human has answered a request, or redeem the code a human gave for it. You can't approve your own action.",
		reasons:     []string{"Takes effect only with a human's proof; your own word is refused and recorded"},
		parameters: []Parameter{
			{Name: "request_id", alias: "requestId", Type: "string", Required: true, MaxLength: maxName,
				Description: "request_id of the directive."},
			{Name: "code", Type: "string", MaxLength: maxName, Sensitive: true,
				Description: "A human's code for this request, if one was given."},
		},
		returns:  typeInfo{Name: "Confirmation", Kind: "object", Description: "Where the request stands."},
		examples: []example{{"Ask whether a human has answered", `{"operation":"confirm_operation","params":{"request_id":"apr_0123456789ab"}}`}},
		run:      (*Server).confirm,
	}
}

func completeOperation() operation {
	return operation{
		name: "complete_execution", endpoint: Execute, permission: ConfirmSingleUse,
		danger: interlock.DangerReversible, lifecycle: true,
		description: "End an execution whose work is done, or failed.",
		reasons:     []string{"Ends an execution; a new one can be started"},
		message:     "End the execution '{execution_id}' of '{element_name}'?",
		parameters: []Parameter{
			executionID(false, "Needed if several executions of this name run."), elementName(false),
			{Name: "outcome", Type: "string", Enum: []string{"success", "failure"}, Default: "success",
				Description: "How it went: failure ends in the state failed."},
			{Name: "summary", Type: "string", MaxLength: maxText, Description: "What was done, for the record."},
		},
		returns:  typeInfo{Name: "ExecutionState", Kind: "object", Description: "The execution as it ended."},
		examples: []example{{"End a task that is done", `{"operation":"complete_execution","params":{"execution_id":"exec_…","outcome":"success"}}`}},
		run:      (*Server).complete,
	}
}

func abortOperation() operation {
	return operation{
		name: "abort_execution", endpoint: Execute, permission: ConfirmSingleUse,
		danger: interlock.DangerReversible, lifecycle: true,
		description: "End an execution before its work is done.",
		reasons:     []string{"Ends an execution; a new one can be started"},
		message:     "Abort the execution '{execution_id}' of '{element_name}'?",
		parameters: []Parameter{
			executionID(false, "Needed if several executions of this name run."), elementName(false),
			{Name: "reason", Type: "string", MaxLength: maxText, Description: "Why, for the record."},
		},
		returns:  typeInfo{Name: "ExecutionState", Kind: "object", Description: "The execution as it ended."},
		examples: []example{{"Give a task up", `{"operation":"abort_execution","params":{"execution_id":"exec_…","reason":"the user asked to stop"}}`}},
		run:      (*Server).abort,
	}
}

// The longest texts that are taken, in characters. Where they are longer an analysis would have to cut them.
const (
	maxName = 256
	maxText = 4096
	maxHint = 65536
)

func elementName(required bool) Parameter {
	return Parameter{Name: "element_name", alias: "elementName", Type: "string", Required: required, MaxLength: maxName,
		Description: "What you call this agent or task. It is a label: identity comes from your credential."}
}

func executionID(required bool, when string) Parameter {
	return Parameter{Name: "execution_id", alias: "executionId", Type: "string", Required: required, MaxLength: maxName,
		Description: "The handle execute_agent returned. " + when}
}

// find returns an operation by name.
func (s *Server) find(name string) (operation, bool) {
	for _, o := range s.operations {
		if o.name == name {
			return o, true
		}
	}
	return operation{}, false
}

// toolOf is the tool an operation is called through in the mode this server runs in.
func (s *Server) toolOf(o operation) string {
	if s.config.Single {
		return anyEndpoint.tool()
	}
	return o.endpoint.tool()
}

// route finds the operation a request names, on the endpoint it came in through (AQL-6.2).
func (s *Server) route(endpoint Endpoint, name string) (operation, *Failure) {
	o, known := s.find(name)
	if !known {
		available := []string{}
		for _, o := range s.operations {
			if endpoint == anyEndpoint || o.endpoint == endpoint {
				available = append(available, o.name)
			}
		}
		return o, &Failure{Code: CodeNoOperation,
			Message: "Unknown operation: '" + short(name) + "'; introspect with query 'operations' lists them",
			Details: map[string]any{"operation": short(name), "available": available}}
	}
	if endpoint != anyEndpoint && o.endpoint != endpoint {
		return o, &Failure{Code: CodeEndpointMismatch,
			Message: "Operation '" + o.name + "' must use " + string(o.endpoint) + " endpoint, not " + string(endpoint) +
				"; call it through the tool '" + o.endpoint.tool() + "'",
			Details: map[string]any{"operation": o.name, "expected_endpoint": string(o.endpoint),
				"actual_endpoint": string(endpoint), "correct_tool": o.endpoint.tool()}}
	}
	return o, nil
}
