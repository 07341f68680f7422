package ruleset

import (
	"maps"
	"slices"
	"time"

	"interlock"
)

// A Type says what agents that are bound to it may do at most, and who answers for them. It only objects: what the rules, the
// profile or an agent's own list refuse, no type permits.
type Type struct {
	Name        string `json:"name"`
	Owner       string `json:"owner,omitempty"` // the team or person who keeps it
	Accountable string `json:"accountable"`     // the human who answers for what its agents do
	Role        string `json:"role,omitempty"`

	Tools      []string        `json:"tools"`                // globs over tool names and executed texts; nothing else may be used
	Scopes     TypeScopes      `json:"scopes,omitzero"`      // where it may act
	Parameters []TypeParameter `json:"parameters,omitempty"` // what arguments of its tools must be
	Data       []string        `json:"data,omitempty"`       // classes of data it may touch, see [DataClasses]
	Risk       int             `json:"risk,omitempty"`       // actions with a score above it are asked about; 0 sets no bound

	Runs    RunsOf   `json:"runs,omitempty"`    // whether its agents act outside of registered runs
	Tier    int      `json:"tier,omitempty"`    // of autonomy, 1 to 3: how closely it is watched, and how often its runs may be delegated on
	Spawn   Spawn    `json:"spawn,omitzero"`    // how many runs its agents may hold and register
	Alive   Span     `json:"alive,omitempty"`   // how long ago its agents may have been heard last where work is given to them
	Users   []string `json:"users,omitempty"`   // globs over people: it also bounds every run that one of them began
	Limits  []*Limit `json:"limits,omitempty"`  // of its agents, as they stand under limits
	Caps    Caps     `json:"caps,omitzero"`     // the same in short
	Models  []string `json:"models,omitempty"`  // that its agents reason with, as their makers name them: no judge may be one of these
	Sandbox string   `json:"sandbox,omitempty"` // name of the sandbox profile that what its agents run owes

	Output []*Publication `json:"publishes,omitempty"` // messages that its agents send others
	Input  []*Acceptance  `json:"accepts,omitempty"`   // messages that they are sent

	Critical bool   `json:"critical,omitempty"` // others can't do without its agents
	OnLoss   OnLoss `json:"on_loss,omitempty"`  // what is done when one is lost: of a critical one halt, if none is given, else degrade
	Backup   string `json:"backup,omitempty"`   // the type whose agents stand in for its own, and which may do exactly the same
	TimeBox  Span   `json:"time_box,omitempty"` // how long one of its runs takes at most

	undefined bool
}

// TypeScopes say where agents of a type may act. A list that is not given sets no bound.
type TypeScopes struct {
	Paths     []string `json:"paths,omitempty"`     // globs; the word workspace is everything in it
	Hosts     []string `json:"hosts,omitempty"`     // globs
	Databases []string `json:"databases,omitempty"` // globs over tables and databases
}

// A TypeParameter says what must hold of the arguments of a tool.
type TypeParameter struct {
	Tool string                `json:"tool"` // glob
	Must []interlock.Condition `json:"must"` // all of them; an argument that is missing or can't be compared holds nothing
}

// Spawn bounds how many runs there may be.
type Spawn struct {
	Open   int  `json:"open,omitempty"`   // that one agent of the type holds at once; a hundred, if none is given
	Most   int  `json:"most,omitempty"`   // that one orchestration registers within a time; a hundred, if none is given
	Within Span `json:"within,omitempty"` // an hour, if none is given
}

// RunsOf says whether agents of a type act outside of registered runs.
type RunsOf string

// What types may say of runs.
const (
	RunsOptional  RunsOf = ""          // an action may name no registered run
	RunsRequired  RunsOf = "required"  // every action names a registered run of its agent
	RunsDelegated RunsOf = "delegated" // one that another agent has delegated: these agents begin nothing by themselves
)

// The bounds where a type names none.
const (
	standardOpen   = 100
	standardMost   = 100
	standardWithin = time.Hour
)

// RunRules are what a ruleset says of runs, whatever their types.
type RunRules struct {
	Depth    *int   `json:"depth,omitempty"`    // how often runs may be delegated on where a type names no tier; 0, if none is given
	Turns    int    `json:"turns,omitempty"`    // of one conversation between agents; 10, if none is given
	Resolver string `json:"resolver,omitempty"` // who decides after that, in a name that callers know; a human, if none is given
	Retries  int    `json:"retries,omitempty"`  // of one task by one agent; 3, if none is given
	TimeBox  Span   `json:"time_box,omitempty"` // of a run whose type names none; an hour at tier 3, and none elsewhere, if none is given
	// whose word says that a call a task requires was carried out: reported takes the agents' own too; else only its executor's
	Attest string `json:"attest,omitempty"`
}

// AttestReported has agents' own reports attest the calls that their tasks require.
const AttestReported = "reported"

// Reported reports whether an agent's own report attests a call.
func (r RunRules) Reported() bool { return r.Attest == AttestReported }

// MaxDepth is how often a run can be delegated on at most.
const MaxDepth = 3

// The standards of [RunRules].
const (
	standardTurns   = 10
	standardRetries = 3
)

// Classes of data that the analysis tells apart.
const (
	DataSecret   = "secret"   // keys, passwords, tokens, the environment
	DataPersonal = "personal" // what a service keeps about a person
)

// DataClasses lists the classes of data a type may name.
func DataClasses() []string { return []string{DataPersonal, DataSecret} }

// UndefinedType is the name under which findings speak of an agent whose type nobody has defined.
const UndefinedType = "undefined"

// undefined returns what holds for agents of a type that the ruleset does not define, where it defines any: they may look and nothing else,
// which the gate sees to, touch no secrets and nothing personal, hold one run and delegate nothing.
func undefined() *Type {
	return &Type{Name: UndefinedType, Tools: []string{"*"}, Spawn: Spawn{Open: 1, Most: 1}, undefined: true}
}

// Types lists the types, by name. Without any of them nobody is held against one.
func (r *Ruleset) Types() []*Type {
	list := make([]*Type, 0, len(r.types))
	for _, name := range slices.Sorted(maps.Keys(r.types)) {
		list = append(list, r.types[name])
	}
	return list
}

// Typed reports whether the ruleset defines types, so that every agent has one.
func (r *Ruleset) Typed() bool { return len(r.types) > 0 }

// TypeOf is the type that an agent is bound to: the one its record names or, without a record, the one of its own name.
func (r *Ruleset) TypeOf(agent interlock.AgentRecord) *Type { return r.TypeNamed(TypeName(agent)) }

// TypeName is the name of the type that an agent is bound to.
func TypeName(agent interlock.AgentRecord) string {
	if agent.Type != "" {
		return agent.Type
	}
	return agent.ID
}

// TypeNamed is the type with a name, and the strictest there is where nobody defined it. Where the ruleset defines none at all, it is
// one that bounds nothing but how many runs there may be.
func (r *Ruleset) TypeNamed(name string) *Type {
	if t := r.types[name]; t != nil {
		return t
	}
	if !r.Typed() {
		return &Type{Tools: []string{"*"}, Data: DataClasses()}
	}
	return undefined()
}

// Defined reports whether somebody has defined the type.
func (t *Type) Defined() bool { return !t.undefined }

// TypesOfUser are the types that bound what somebody has begun, by name.
func (r *Ruleset) TypesOfUser(principal string) (list []*Type) {
	for _, name := range r.userTypes {
		t := r.types[name]
		if slices.ContainsFunc(t.Users, func(g string) bool { return Glob(g, principal) }) {
			list = append(list, t)
		}
	}
	return list
}

// Fits reports whether what the type says of a tool's arguments holds, and which argument it is otherwise.
func (t *Type) Fits(tool string, arguments []byte) (parameter string, fits bool) {
	for _, p := range t.Parameters {
		if tool == "" || !Glob(p.Tool, tool) {
			continue
		}
		for _, c := range p.Must {
			if hold(c, arguments) != holdsTrue {
				return c.Parameter, false
			}
		}
	}
	return "", true
}

// Deep is how often runs of a type's agents may be delegated on: as its own tier says, else the ruleset's depth, else the ruleset's tier.
func (r *Ruleset) Deep(t *Type) int {
	switch {
	case !t.Defined():
		return 0
	case t.Tier > 0:
		return depthOf(t.Tier)
	case r.runs.Depth != nil:
		return *r.runs.Depth
	}
	return depthOf(r.maso.Tier)
}

// depthOf is how often runs may be delegated on at a tier.
func depthOf(tier int) int {
	switch tier {
	case 2:
		return 2
	case 3:
		return MaxDepth
	}
	return 0
}

// Spawns are the bounds of a type's runs, with what holds where it names none.
func (t *Type) Spawns() Spawn {
	s := t.Spawn
	if s.Open == 0 {
		s.Open = standardOpen
	}
	if s.Most == 0 {
		s.Most = standardMost
	}
	if s.Within == 0 {
		s.Within = Span(standardWithin)
	}
	return s
}

// Runs is what the ruleset says of runs, with what holds where it says nothing.
func (r *Ruleset) Runs() RunRules {
	s := r.runs
	if s.Turns == 0 {
		s.Turns = standardTurns
	}
	if s.Retries == 0 {
		s.Retries = standardRetries
	}
	return s
}

// Gives reports whether the type has a tool of a name.
func (t *Type) Gives(tool string) bool {
	return slices.ContainsFunc(t.Tools, func(g string) bool { return Glob(g, tool) })
}
