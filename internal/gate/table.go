package gate

import "interlock"

// About says what a gate looks at: to learn that it asks is to learn whether another door, which knows less of this agent and
// this run, would ask as well.
type About string

// What gates look at. The zero value, which a gate that is not in the table has as well, is the most particular of them.
const (
	AboutAgent  About = ""       // what is known of the agent, of the server it calls or of this door
	AboutRun    About = "run"    // what the same run did or was told before
	AboutAction About = "action" // the action itself and the rules, and nothing else
)

// Part says which part of an action a gate's findings are about, where they name no impacts.
type Part string

// The parts of an action.
const (
	NoPart    Part = ""
	Operation Part = "operation" // the tool's name or the command
	Input     Part = "input"     // the text that could not be understood
)

// Cause says why an action can't go on where a gate denies it, in the few words that a door tells a program.
type Cause string

// The causes.
const (
	CausePolicy     Cause = ""           // the rules say so
	CauseQuarantine Cause = "quarantine" // the tool or its server is not the one that was approved
	CauseInput      Cause = "input"      // it could not be read as an action
	CauseFailure    Cause = "failure"    // no decision could be made or recorded
)

// A Source says who makes a gate's findings.
type Source string

// The sources.
const (
	FromCheck  Source = ""       // its Check does
	FromEngine Source = "engine" // deciding does, from what other gates have found, or where nothing can be decided
	FromLooks  Source = "looks"  // a row of admission's looks does, from what is known beside the action
)

// A Row is one gate and everything that anybody asks of it. A new gate is a file with its check, a row here, its vectors
// and its clause; nothing else compares gates by name.
type Row struct {
	Name  string // in findings and in the log, so it never changes
	Check Gate   // nil: others find for it
	From  Source // who else does
	About About

	Suppressible bool // an operator's order may keep its rules silent, if the rule itself allows it
	Wanted       bool // its rules may say that the user's own words answer what they ask
	Repeats      bool // what it asks about impacts adds nothing to what a rule asks about the same, where it was inferred
	Base         bool // it speaks for the profile, so policy.autoApprove overrules what it asks
	Forbids      bool // it denies for what is done, no matter who does it: of a reported step, the danger zone (MCP-AQL 8.8.2)
	Patterns     bool // its denial is an operator's pattern, which ends a monitored execution (MCP-AQL 8.7.2)
	Steps        bool // it asks for the stages of a monitored execution, and not because of a rule about the action
	Waits        bool // it speaks of a pause, and of nothing that the action does
	Each         bool // what it asks a person answers each time, and no standing yes does
	Ranges       bool // what it asks about production and others outside a pre-approved range of parameters answers
	Held         bool // it speaks of a hold, whatever is done
	Counts       bool // what it refuses counts towards its agent's breaker: something was wanted that must not be done

	Part  Part
	Cause Cause
}

// A Table is all gates. The order cannot change a verdict; it says which of equally strict findings of one layer is named first.
type Table []Row

// Gates returns the table of the gates that ship. What decides before any gate comes first, what comes from outside last.
func Gates() Table { return rows }

var rows = Table{
	{Name: "engine", From: FromEngine, Cause: CauseInput},
	{Name: NameKill, From: FromLooks, Forbids: true},
	{Name: "standing", Check: Standing, Forbids: true},
	{Name: "hold", From: FromLooks, Held: true, Cause: CauseFailure},
	{Name: "phase", From: FromLooks, Held: true, Each: true},
	{Name: "breaker", From: FromLooks, Held: true},
	{Name: "context", From: FromLooks, About: AboutRun, Each: true},
	{Name: "self", Check: Self, Forbids: true, Counts: true},
	{Name: "pin", Check: Pin, Cause: CauseQuarantine},
	{Name: "denylist", Check: Denylist, Suppressible: true, Forbids: true, Counts: true, Part: Operation},
	{Name: NameText, From: FromLooks, About: AboutAction, Forbids: true, Counts: true},
	{Name: "rules", Check: Rules, About: AboutAction, Suppressible: true, Ranges: true, Wanted: true, Forbids: true, Counts: true},
	{Name: "origin", Check: Origin, About: AboutRun, Counts: true},
	{Name: "policy", Check: Policy, About: AboutAction, Forbids: true, Patterns: true, Counts: true, Part: Operation},
	{Name: "scope", Check: Scope, Counts: true},
	{Name: "type", Check: Type, Counts: true},
	{Name: NameModule, Check: Module, From: FromLooks, Counts: true, Each: true},
	{Name: "cedar", Check: Cedar, Counts: true},
	{Name: NameMessage, From: FromLooks, Each: true, Counts: true},
	{Name: NameDelivery, From: FromLooks, Each: true},
	{Name: "danger", Check: Danger, About: AboutAction, Repeats: true, Counts: true, Part: Operation},
	{Name: "unknown", Check: Unknown, About: AboutAction, Part: Input},
	{Name: "profile", Check: Profile, About: AboutAction, Suppressible: true, Ranges: true, Repeats: true, Base: true, Counts: true},
	{Name: nameClass, Check: Class, About: AboutAction, Each: true, Ranges: true},
	{Name: NameFirstUse, From: FromLooks, Each: true},
	{Name: "risk", Check: Risk, About: AboutAction, Steps: true},
	{Name: "escalation", Check: Escalation, About: AboutRun, Steps: true},
	{Name: "loop", Check: Loop, About: AboutRun, Forbids: true, Patterns: true, Steps: true},
	{Name: "pause", Check: Pause, About: AboutRun, Steps: true, Waits: true},
	{Name: "cooldown", Check: Cooldown, About: AboutRun},
	{Name: NameAdmission, From: FromEngine, Cause: CauseFailure},
	{Name: "dry-run", From: FromEngine},
	{Name: "commit", From: FromLooks, About: AboutRun, Each: true},
	{Name: "plan", From: FromLooks, About: AboutRun, Each: true},
	{Name: "first", From: FromLooks, Each: true},
	{Name: NameJudge, From: FromEngine, Counts: true}, // it comes after all that may deny: see Judged
	{Name: NameLimit, Check: Limit, From: FromLooks, Each: true},
	{Name: NameBudget, From: FromLooks, Each: true},
	{Name: "sandbox", From: FromEngine},
	{Name: "suppression", From: FromEngine},
}

// NameAdmission is the gate of what is refused before or beside a decision: bad input, a store that fails.
const NameAdmission = "admission"

// NameKill is the gate of a stop of everything, which holds in every mode.
const NameKill = "kill"

// NameText is the gate of texts of which the classifier lets nothing go on.
const NameText = "text"

// NameMessage is the gate of what an agent sends another where the sender is at fault, and NameDelivery where nobody is, or not
// the one that asks to receive it.
const (
	NameMessage  = "message"
	NameDelivery = "delivery"
)

// Of returns a gate's row. A gate that is not in the table has one that allows nothing to be taken from what it says.
func (t Table) Of(name string) Row {
	for n := range t {
		if t[n].Name == name {
			return t[n]
		}
	}
	return Row{Name: name}
}

// Place is where a gate is in the table, for the order of findings; what is not in it comes last.
func (t Table) Place(name string) int {
	for n := range t {
		if t[n].Name == name {
			return n
		}
	}
	return len(t)
}

// Of returns the row of the gate that a finding is from.
func Of(f *interlock.Finding) Row { return rows.Of(f.Gate) }
