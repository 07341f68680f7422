package interlock

import "slices"

// An Impact is one thing an action would do to the world.
type Impact struct {
	Kind          ImpactKind    `json:"kind"`
	Target        string        `json:"target,omitempty"` // path, URL, host, table, recipient: cleaned, never a secret
	Reach         Reach         `json:"reach"`
	Reversibility Reversibility `json:"reversibility"`
	Confidence    Confidence    `json:"confidence"`
	Via           string        `json:"via,omitempty"`    // the command, call or statement that does it, e.g. "git push"
	Traits        []string      `json:"traits,omitempty"` // sorted facts the analysis established, e.g. "recursive", "force"

	// How much it is, where the action says so; 0 is unknown.
	Records    int64  `json:"records,omitempty"`    // rows, files, items that are read, changed or deleted
	Bytes      int64  `json:"bytes,omitempty"`      // that leave or enter
	Recipients int64  `json:"recipients,omitempty"` // people or places that are addressed
	Money      int64  `json:"money,omitempty"`      // in the smallest unit of its currency; hundredths, where none is named
	Currency   string `json:"currency,omitempty"`   // ISO 4217; empty where none is named
	Amount     int64  `json:"amount,omitempty"`     // records of before held cents or a count here, as the kind said; nothing new does
}

// Most is the largest number that says how much the impact is.
func (i *Impact) Most() int64 { return max(i.Amount, i.Records, i.Bytes, i.Recipients, i.Money) }

// Sum is how much money the impact commits, and in which currency.
func (i *Impact) Sum() (minor int64, currency string) {
	if i.Money == 0 && i.Kind == ImpactSpend {
		return i.Amount, ""
	}
	return i.Money, i.Currency
}

// Has reports whether the impact carries the trait.
func (i Impact) Has(trait string) bool {
	for _, t := range i.Traits {
		if t == trait {
			return true
		}
	}
	return false
}

// An ImpactKind names what is done.
type ImpactKind string

// The impact kinds.
const (
	ImpactRead       ImpactKind = "read"       // data is read
	ImpactWrite      ImpactKind = "write"      // data is created or changed
	ImpactDelete     ImpactKind = "delete"     // data is removed
	ImpactExecute    ImpactKind = "execute"    // code runs that the analysis does not see through
	ImpactNetwork    ImpactKind = "network"    // bytes leave or enter over a network
	ImpactMessage    ImpactKind = "message"    // people outside are addressed: mail, chat, posts, publications
	ImpactSpend      ImpactKind = "spend"      // money or billable resources are committed
	ImpactPrivilege  ImpactKind = "privilege"  // rights, roles, owners or modes change
	ImpactPersist    ImpactKind = "persist"    // something will run again later: start-up files, cron, services, hooks
	ImpactCredential ImpactKind = "credential" // a secret is read, revealed or changed
	ImpactConfigure  ImpactKind = "configure"  // settings of a system or service change
	ImpactSpawn      ImpactKind = "spawn"      // processes, containers or agents are started or killed
)

// ImpactKinds lists every impact kind.
func ImpactKinds() []ImpactKind {
	return []ImpactKind{ImpactRead, ImpactWrite, ImpactDelete, ImpactExecute, ImpactNetwork, ImpactMessage, ImpactSpend,
		ImpactPrivilege, ImpactPersist, ImpactCredential, ImpactConfigure, ImpactSpawn}
}

// Reach says how far an impact goes.
type Reach string

// The reaches.
const (
	ReachWorkspace  Reach = "workspace"  // the project the agent works in, and scratch space
	ReachHome       Reach = "home"       // the user's own files outside the workspace
	ReachSystem     Reach = "system"     // the machine: system files, devices, services, other users
	ReachExternal   Reach = "external"   // another host, service or person
	ReachProduction Reach = "production" // something named as production
	ReachSelf       Reach = "self"       // Interlock's own files, process or endpoints
)

// Reaches lists every reach.
func Reaches() []Reach {
	return []Reach{ReachWorkspace, ReachHome, ReachSystem, ReachExternal, ReachProduction, ReachSelf}
}

// ImpactClass is the class that an action is counted under, such as "delete production": what it does that reaches farthest. It is "none"
// for what has no impacts.
func ImpactClass(impacts []Impact) string {
	class, far := "none", -1
	for n := range impacts {
		if at := slices.Index(Reaches(), impacts[n].Reach); at > far {
			class, far = string(impacts[n].Kind)+" "+string(impacts[n].Reach), at
		}
	}
	return class
}

// Reversibility says what it takes to undo an impact.
type Reversibility string

// The reversibilities.
const (
	Readonly     Reversibility = "readonly"     // nothing changes
	Reversible   Reversibility = "reversible"   // the actor can undo it
	Window       Reversibility = "window"       // it can be undone for a while, or by somebody else
	Irreversible Reversibility = "irreversible" // it can't be undone
)

// Reversibilities lists every reversibility.
func Reversibilities() []Reversibility {
	return []Reversibility{Readonly, Reversible, Window, Irreversible}
}

// Confidence says how the impact was established.
type Confidence string

// The confidences.
const (
	Parsed   Confidence = "parsed"   // read off the syntax, target and all
	Inferred Confidence = "inferred" // likely: a variable, a glob or a name had to be interpreted
	Unknown  Confidence = "unknown"  // the input could not be understood, was truncated or over a bound
)

// Confidences lists every confidence.
func Confidences() []Confidence { return []Confidence{Parsed, Inferred, Unknown} }
