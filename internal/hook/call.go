package hook

import (
	"context"

	"interlock"
)

// The bounds of one payload.
const (
	MaxPayload = 8 << 20 // bytes read from the harness; post-tool payloads carry the tool's output and may be large
	MaxAction  = 1 << 20 // bytes of what would be judged: command, arguments, file content
	MaxReason  = 10_000  // bytes of a reason; Claude Code cuts strings there, the others show less
)

// A Phase says where in a tool call's life an event comes. The zero value is unknown and is treated as Before: whatever
// can't be placed is refused.
type Phase uint8

// The phases.
const (
	Unknown    Phase = iota // the payload could not be read
	Before                  // the tool is about to run and can be stopped
	Permission              // the harness is about to ask its user about the tool
	After                   // the tool has run
	Told                    // the user has said something to the agent: nothing to judge, and never a refusal
	Other                   // sessions, notifications: nothing to judge
)

// A Call is one event of one harness. Its zero value refuses.
type Call struct {
	Agent     string // the harness the payload shows; mostly the one that was named
	Event     string // as the harness spells it; empty if it can't be known
	Phase     Phase
	Proposals []interlock.Proposal // what is to be judged, in order; a patch to three files is three proposals
	Handover  interlock.Handover   // whether its only proposal goes on to something of Interlock's own
	Outcomes  []interlock.Outcome  // for After: what became of each proposal
	Who       interlock.Requester  // for Told: whose user spoke
	Said      string               // for Told: what the user said
	// for After: what the agent is shown of how it went, as text or JSON; empty where it isn't told
	Result string
	Silent bool // the harness says that it shows no prompts in this session
	// what listens where the server should can't prove to be it; it was not believed, and people should know
	Impostor bool

	screened screened // for After: what the agent may be shown of Result

	roams  bool     // After says which directory the harness is in by then, which a command may have changed
	server string   // the MCP server it may go to, if that is named like Interlock's own; empty: it isn't
	input  object   // the tool's arguments as they came
	home   string   // that commands which are told to people have to name
	hand   *handing // how its command would go on to `interlock exec`; nil where it can't
}

// An Environment is what the process knows that the payload doesn't say.
type Environment struct {
	Event      string // the event this command was registered for; used where the payload names none or can't be read
	Principal  string // the operating-system user who answers for the agent
	Unattended bool   // nobody can answer a prompt: every Ask becomes a refusal that names the approval request
	Prompts    bool   // the harness is known to show prompts; only Copilot needs it, whose flags can skip them unseen
	Exec       *Exec  // the program that runs commands in a sandbox; nil where there can be none
	Home       string // the home that commands which are told to people have to name; empty where `interlock` finds it by itself

	// Gateway reports whether the server to which a call goes can only be Interlock's own gateway, for the same home, as the
	// harness is set up and as it runs. Only a question asks for it. Nil: nobody here can tell.
	Gateway func(ctx context.Context, call Call) bool
}

// An Output is what the process must do: write both and exit with the status.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// Parse reads one payload. On error the returned call still says in which dialect, and where known for which event, the
// refusal must be written; the error is an [*interlock.Error] whose message may be shown.
func Parse(agent string, stdin []byte, env Environment) (Call, error) {
	call := Call{Agent: agent, Event: env.Event, home: env.Home}
	d, known := dialectOf(agent)
	if !known {
		return call, interlock.Errorf(interlock.CodeInvalid, "--agent",
			"%.40q is not a known harness; name one of %v", agent, Agents())
	}
	if env.Event != "" {
		call.Phase, _ = d.place(env.Event)
	}
	payload, err := readPayload(stdin)
	if err != nil {
		return call, err
	}
	if seen := detect(agent, payload); seen != agent {
		call = Call{Agent: seen}
		d, _ = dialectOf(seen)
		env.Event = "" // registered with another harness, so its name means nothing here
	}
	if err := d.parse(&call, payload, env); err != nil {
		call.Proposals, call.Outcomes = nil, nil
		return call, err
	}
	if err := call.handle(d, env); err != nil {
		call.Proposals, call.Outcomes = nil, nil
		return call, err
	}
	if err := call.roam(); err != nil {
		call.Proposals, call.Outcomes = nil, nil
		return call, err
	}
	call.Who.Principal, call.Who.Agent = env.Principal, call.Agent
	canAsk := d.asks(call, env) && !env.Unattended && !call.Silent
	for i := range call.Proposals {
		p := &call.Proposals[i]
		p.Requester.Principal, p.Requester.Agent = env.Principal, call.Agent
		p.Event, p.Door, p.CanAsk = call.Event, "hook", canAsk
	}
	return call, nil
}

// judge sets what a call is about, and for events after the fact how it ended.
func (c *Call) judge(who interlock.Requester, actions []interlock.Action, outcome interlock.Outcome) error {
	for _, action := range actions {
		digest, err := checkAction(action)
		if err != nil {
			return err
		}
		c.Proposals = append(c.Proposals, interlock.Proposal{Action: action, Requester: who})
		if c.Phase == After {
			outcome.Action = digest
			c.Outcomes = append(c.Outcomes, outcome)
		}
	}
	return nil
}

// roam lets an outcome be found by the call's id and what was called, wherever the harness is by now.
func (c *Call) roam() error {
	if !c.roams || c.Phase != After {
		return nil
	}
	for i, p := range c.Proposals {
		p.Action.Dir = ""
		digest, err := checkAction(p.Action)
		if err != nil {
			return err
		}
		c.Outcomes[i].Anywhere = digest
	}
	return nil
}
