package mcpaql

import (
	"context"

	"interlock"
)

// Runs are what an agent registers to act in, alone or for another that delegates to it; see [interlock.Run]. They belong to the agent that
// the connection's credential names, whatever a call says.

func registerRunOperation() operation {
	return operation{
		name: "register_run", endpoint: Create, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "Register a run to act in, or delegate a part of one of your runs to another agent. Name the returned id with what you do in it.",
		reasons:     []string{"Gives nobody more than it had: what is delegated is held against the types of all who delegated it"},
		parameters: []Parameter{
			{Name: "task", Type: "string", MaxLength: maxText,
				Description: "What the run is for. One that is tried again and again under the same name is bounded."},
			{Name: "key", Type: "string", MaxLength: maxName, Description: "Your name for it: the same one again is the same run."},
			{Name: "agent", Type: "string", MaxLength: maxName, Description: "To whom it is delegated. Default: yourself."},
			{Name: "parent", Type: "string", MaxLength: maxName, Description: "Your run that it is part of; needed to delegate."},
			{Name: "tools", Type: "array", Items: &Parameter{Name: "tool", Type: "string", MaxLength: maxName}, Description: "Tools that it needs."},
			{Name: "time_box_seconds", alias: "timeBoxSeconds", Type: "integer", Description: "After how long it ends by itself, in seconds."},
		},
		returns:  typeInfo{Name: "Run", Kind: "object", Description: "The run as it stands."},
		examples: []example{{"Begin a task", `{"operation":"register_run","params":{"task":"write the notes","time_box_seconds":3600}}`}},
		run:      (*Server).registerRun,
	}
}

func endRunOperation() operation {
	return operation{
		name: "end_run", endpoint: Execute, permission: AutoApprove, danger: interlock.DangerReversible,
		description: "End one of your runs. What waits in it, and in what it delegated, is cancelled.",
		reasons:     []string{"Ends a run; another can be registered"},
		parameters: []Parameter{
			{Name: "run", Type: "string", Required: true, MaxLength: maxName, Description: "The id that register_run returned."},
			{Name: "status", Type: "string", Required: true, Enum: []string{string(interlock.RunCompleted), string(interlock.RunFailed),
				string(interlock.RunCancelled)},
				Description: "How it ended."},
			{Name: "reason", Type: "string", MaxLength: maxText, Description: "Why, for the record."},
		},
		returns:  typeInfo{Name: "Run", Kind: "object", Description: "The run as it ended."},
		examples: []example{{"End a run that is done", `{"operation":"end_run","params":{"run":"run_…","status":"completed"}}`}},
		run:      (*Server).endRun,
	}
}

func heartbeatOperation() operation {
	return operation{
		name: "heartbeat", endpoint: Create, permission: AutoApprove, danger: interlock.DangerSafe,
		description: "Say that you are there. Work is given to agents only that were heard lately, where their type says so.",
		reasons:     []string{"Leaves the time and nothing else"},
		parameters:  []Parameter{},
		returns:     typeInfo{Name: "Heard", Kind: "object", Description: "That it was heard."},
		examples:    []example{{"Be heard", `{"operation":"heartbeat","params":{}}`}},
		run:         (*Server).heartbeat,
	}
}

func (s *Server) registerRun(ctx context.Context, c Caller, a arguments) (any, error) {
	box, _ := a["time_box_seconds"].(float64) // checked: a whole number, or nothing
	return s.config.Backend.RegisterRun(ctx, c.requester(), interlock.RunRequest{Key: a.text("key"), Agent: a.text("agent"), Parent: a.text("parent"),
		Task: a.text("task"), Tools: a.texts("tools"), Box: int(box)})
}

func (s *Server) endRun(ctx context.Context, c Caller, a arguments) (any, error) {
	return s.config.Backend.EndRun(ctx, c.requester(), a.text("run"),
		interlock.RunEnd{Status: interlock.RunStatus(a.text("status")), Why: a.text("reason")})
}

func (s *Server) heartbeat(ctx context.Context, c Caller, _ arguments) (any, error) {
	return map[string]bool{"heard": true}, s.config.Backend.Heartbeat(ctx, c.requester())
}
