package interlock

import "encoding/json"

// A Digest is "sha256:" and 64 lower-case hexadecimal digits over the canonical form of a value.
type Digest string

// A Kind says how an action's input is to be read.
type Kind string

// The kinds of action.
const (
	KindShell      Kind = "shell"      // Input is a command line or script for a POSIX shell
	KindSQL        Kind = "sql"        // Input is one or more SQL statements
	KindPython     Kind = "python"     // Input is Python source
	KindJavaScript Kind = "javascript" // Input is JavaScript source
	KindFile       Kind = "file"       // Tool is read, write, edit or delete; Arguments has at least "path"
	KindHTTP       Kind = "http"       // Arguments has "method", "url" and optionally "headers" and "body"
	KindTool       Kind = "tool"       // Tool is the tool's name; Arguments are its arguments
	KindHint       Kind = "hint"       // Input is prose in which an agent says what it will do
	KindText       Kind = "text"       // Input is text to classify: no action, content
)

// Kinds lists every kind, in the order documentation names them.
func Kinds() []Kind {
	return []Kind{KindShell, KindSQL, KindPython, KindJavaScript, KindFile, KindHTTP, KindTool, KindHint, KindText}
}

// Valid reports whether k is one of [Kinds].
func (k Kind) Valid() bool {
	for _, known := range Kinds() {
		if k == known {
			return true
		}
	}
	return false
}

// TakesObject reports whether actions of this kind carry Arguments rather than Input.
func (k Kind) TakesObject() bool { return k == KindFile || k == KindHTTP || k == KindTool }

// An Action is what an agent proposes to do. Its digest covers everything but Hint: the same action described in other
// words is the same action, and an agent's own words about it never lower a verdict.
type Action struct {
	Kind      Kind            `json:"kind"`
	Tool      string          `json:"tool,omitempty"`      // the name the agent called it by, e.g. "Bash" or "mcp__db__query"
	Input     string          `json:"input,omitempty"`     // the command, statement, program, prose or text
	Arguments json.RawMessage `json:"arguments,omitempty"` // one JSON object in canonical form, for file, http and tool
	Dir       string          `json:"dir,omitempty"`       // working directory, absolute where known
	Hint      string          `json:"hint,omitempty"`      // what the agent says the action is for
}

// A Requester is who proposes: the accountable identity, the software acting for it, and one execution of that software.
type Requester struct {
	Principal string `json:"principal"`      // operator or operating-system user who answers for the agent
	Agent     string `json:"agent"`          // the agent's identity: its token's name, or the harness for a local hook
	Run       string `json:"run,omitempty"`  // one execution, e.g. the harness's session id
	Call      string `json:"call,omitempty"` // the harness's or caller's id of this one call, where it has one
}

// A View is what the analysis may know of the world. The door gathers it before deciding and the event records its
// digest, so that analysis stays a function of values.
type View struct {
	Home      string `json:"home,omitempty"`      // the user's home directory
	Workspace string `json:"workspace,omitempty"` // root of the project the agent works in; empty means Action.Dir
	User      string `json:"user,omitempty"`      // operating-system user name
	// Interlock's own paths: the home first, then binary, configuration, sockets, hook registrations
	Self      []string `json:"self,omitempty"`
	Endpoints []string `json:"endpoints,omitempty"` // Interlock's own network endpoints as host:port
	// globs of names (hosts, contexts, databases, branches, buckets) that are production
	Production []string          `json:"production,omitempty"`
	Staging    []string          `json:"staging,omitempty"` // globs of names that the rules say are staging; the evaluator fills it in
	Links      map[string]string `json:"links,omitempty"`   // symbolic links the door resolved: path named -> path meant
	// contents of workspace files the action would run, by path, bounded
	Scripts map[string]string `json:"scripts,omitempty"`
	// what git would not give back of the paths the action would delete or overwrite
	Work map[string]Work `json:"work,omitempty"`

	Written []string `json:"written,omitempty"` // files the action would run that this agent wrote lately; admission fills it in

	// places that earlier actions of this agent fetched, or made of what they fetched: a file or a tree, and with /* at the end what
	// was unpacked there; admission fills it in
	Fetched []string `json:"fetched,omitempty"`

	Annotations *Annotations `json:"annotations,omitempty"` // of the tool that is called; nil where its server gave none
}

// Annotations are what a server says of one of its tools (MCP). Nobody vouches for them, so they can only raise what an action
// is taken for: a tool that calls itself harmless gains nothing by it. A nil field was not given.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// A Proposal is an action together with who proposes it and what the door saw of the world. What a door can do about it, and
// what is known of it besides, is no part of it: that is kept beside it while it is decided.
type Proposal struct {
	Action    Action    `json:"action"`
	Requester Requester `json:"requester"`
	View      View      `json:"view"`
	// the harness event that carried it; one call seen by two events is judged once
	Event  string `json:"event,omitempty"`
	Door   string `json:"door,omitempty"` // which door it came through, for the record
	CanAsk bool   `json:"can_ask"`        // whether somebody who can answer an Ask sits behind this door now

	// events whose output the action uses, as its agent says: it adds to what the log shows of where data went, and takes nothing away
	Uses []string `json:"uses,omitempty"`
}

// Work says what git knows of a path and of what lies below it. A path that is not in the view's map is unknown: it is in no
// repository, or there was too much to look at.
type Work struct {
	Changed   bool `json:"changed,omitempty"`   // a tracked file holds changes that were not added
	Untracked bool `json:"untracked,omitempty"` // files that git neither knows nor ignores, and that no tool makes again
	Ignored   bool `json:"ignored,omitempty"`   // files that git ignores, and that no tool is known to make again
	Absent    bool `json:"absent,omitempty"`    // nothing is there
	Root      bool `json:"root,omitempty"`      // it is the root of its repository
	Committed bool `json:"committed,omitempty"` // nothing in this repository is added and not committed
}

// A Handover says that an action does not run as it was proposed, or not only: something of Interlock's own decides it again.
// That is `interlock exec`, which runs it in a sandbox, so the obligation to have one counts as fulfilled and an approval or a
// grant is left for that decision; or it is Interlock's own gateway, to which questions are left.
type Handover string

// The ways of a handover. The zero value is none.
const (
	HandoverOffered Handover = "offered" // the door has `interlock exec` run it if the decision wants a sandbox
	HandoverCertain Handover = "certain" // it is a call of `interlock exec` already
	HandoverGateway Handover = "gateway" // it is a call of a tool behind the gateway of this home; the door has made sure
	HandoverUnsure  Handover = "unsure"  // it may be one; if that matters, the door makes sure before anything is recorded
)

// Valid reports whether h is one of the constants or none.
func (h Handover) Valid() bool {
	return h == "" || h.Boxes() || h == HandoverGateway || h == HandoverUnsure
}

// Boxes reports whether `interlock exec` can run the action in its sandbox.
func (h Handover) Boxes() bool { return h == HandoverOffered || h == HandoverCertain }

// Hands reports whether an action with this decision goes on to `interlock exec`.
func (h Handover) Hands(d Decision) bool {
	if h == HandoverCertain {
		return true
	}
	return h == HandoverOffered && d.Mode == Enforcing && d.Owes(ObligationSandbox)
}
