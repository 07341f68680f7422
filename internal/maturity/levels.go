package maturity

import (
	"fmt"
	"strings"
	"time"
)

// A State says whether something is evidenced.
type State string

// The states. What can't be told from here is unknown, and counts as little as what is not met.
const (
	Met     State = "met"
	NotMet  State = "not met"
	Unknown State = "unknown"
)

// An Indicator is one thing that a level or a gate asks for, with the evidence of it.
type Indicator struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Seen  string `json:"seen"`
}

// A Level is a level of maturity with what it asks for. It is reached where all of it is met, and all before it.
type Level struct {
	Name       string      `json:"level"`
	Reached    bool        `json:"reached"`
	Indicators []Indicator `json:"indicators,omitempty"`
}

// A Gate is what leaving a tier upwards takes.
type Gate struct {
	From       int         `json:"from"`
	To         int         `json:"to"`
	Open       bool        `json:"open"`
	Indicators []Indicator `json:"indicators"`
}

// A Home is how a home is set up now.
type Home struct {
	Now        time.Time
	Tier       int
	Profile    string
	Mode       string
	Agents     int               // registered, in office, without observers
	Listed     int               // of those with a list of what they may use, or a type that the rules define
	Rates      []string          // limits on actions that hold for every agent
	Caps       []string          // limits on records, money, calls and the like
	Most       map[string]int64  // of limits by id
	NoSandbox  string            // why none can run here; empty: it can
	Sandboxes  int               // types that name a sandbox
	Roles      map[string]string // of the operators in office
	Checkpoint bool              // the log has a signed head
	Judges     []string          // that are configured
}

// A Report is what log and setup come to.
type Report struct {
	Level  string  `json:"level"`
	Tier   int     `json:"tier"`
	Days   int     `json:"days_logged"`
	Levels []Level `json:"levels"`
	Gates  []Gate  `json:"gates"`
	Agents []Agent `json:"agents"`
}

// enough is how many answers of people it takes before a share of them says anything.
const enough = 30

// Of says what a home and its log come to.
func Of(h Home, b *Book) Report {
	r := Report{Tier: h.Tier, Agents: b.Agents(h.Most)}
	if !b.First.IsZero() {
		r.Days = int(h.Now.Sub(b.First).Hours() / 24)
	}
	r.Levels = []Level{{Name: "Initial", Reached: true}, {Name: "Managed", Indicators: managed(h, b, r.Agents)},
		{Name: "Defined", Indicators: defined(h, b)}, {Name: "Quantitatively Managed", Indicators: measured(h, b, r.Agents)},
		{Name: "Optimising", Indicators: optimising(b)}}
	for n := range r.Levels {
		l := &r.Levels[n]
		l.Reached = n == 0 || r.Levels[n-1].Reached && allMet(l.Indicators)
		if l.Reached {
			r.Level = l.Name
		}
	}
	r.Gates = []Gate{gate(1, 2, toManaged(h, b, r.Days)), gate(2, 3, toAutonomous(h, b, r.Days))}
	return r
}

func allMet(indicators []Indicator) bool {
	for _, i := range indicators {
		if i.State != Met {
			return false
		}
	}
	return true
}

// is makes an indicator that is met or not.
func is(name string, met bool, seen string, args ...any) Indicator {
	i := Indicator{Name: name, State: NotMet, Seen: fmt.Sprintf(seen, args...)}
	if met {
		i.State = Met
	}
	return i
}

// unknown makes one that can't be told.
func unknown(name, why string) Indicator { return Indicator{Name: name, State: Unknown, Seen: why} }

// noJudge is what is said of everything that waits for a judge.
const noJudge = "no judge is configured"

func managed(h Home, b *Book, agents []Agent) []Indicator {
	lists := is("tools are listed for every agent", h.Listed == h.Agents, "%d of %d registered agents have a list or a type", h.Listed, h.Agents)
	if h.Agents == 0 {
		lists = unknown(lists.Name, "no agent is registered")
	}
	unasked := 0
	for n := range agents {
		unasked += agents[n].Unasked
	}
	return []Indicator{
		lists,
		is("a person approves every write", h.Profile == "supervised" && h.Mode == "enforcing" && unasked == 0,
			"profile %s, mode %s; %d changes passed without a person's yes since %s", h.Profile, h.Mode, unasked, b.Lately.Format("2006-01-02")),
		is("the rate of actions is limited", len(h.Rates) > 0, "%s", named(h.Rates, "no limit on actions holds for every agent")),
		is("actions are logged with how they were approved", b.Decisions > 0 && h.Checkpoint && b.Unread == 0,
			"%d decisions in %d events, %d answers of people, %d unreadable; signed head: %t", b.Decisions, b.Events, b.Yes+b.No, b.Unread, h.Checkpoint),
	}
}

func defined(h Home, b *Book) []Indicator {
	var allowed, asked, denied int
	for _, a := range b.agents { // sums
		allowed, asked, denied = allowed+a.Allowed, asked+a.Asked, denied+a.Denied
	}
	sandbox := is("code runs in a sandbox", h.NoSandbox == "" && b.Sandboxed > 0, "%d actions in the log went to the sandbox; %d types name one",
		b.Sandboxed, h.Sandboxes)
	if h.NoSandbox != "" {
		sandbox.Seen = "none can run here: " + h.NoSandbox
	}
	return []Indicator{
		is("every action is classified", h.Mode == "enforcing" && b.Decisions > 0, "mode %s: %d passed, %d were asked about, %d blocked", h.Mode, allowed,
			asked, denied),
		sandbox,
		is("what an agent may reach is capped", len(h.Caps) > 0, "%s", named(h.Caps, "no limit on records, money, calls or the like")),
		is("breakers are on", h.Tier >= 1, "tier %d", h.Tier),
		is("a judge gates", len(h.Judges) > 0 && h.Mode == "enforcing", "%s", named(h.Judges, noJudge)),
	}
}

func named(ids []string, none string) string {
	if len(ids) == 0 {
		return none
	}
	return strings.Join(ids, ", ")
}

func measured(h Home, b *Book, agents []Agent) []Indicator {
	answers := b.Yes + b.No
	accuracy := unknown("accuracy of classification is measured", fmt.Sprintf("%d answers of people, of the %d that a share takes", answers, enough))
	if answers >= enough {
		accuracy = is(accuracy.Name, true, "of %d questions that people answered they refused %d (%.0f %%): those were rightly asked; %d incidents were "+
			"reported of what passed by itself", answers, b.No, share(b.No, answers), b.Incidents)
	}
	trips := 0
	for _, n := range b.Trips { // a sum
		trips += n
	}
	used, over := 0, 0
	for n := range agents {
		over += agents[n].OverCap
		for _, c := range agents[n].Caps {
			if c.Most > 0 {
				used++
			}
		}
	}
	return []Indicator{
		accuracy,
		tracked(h),
		is("engagement of breakers is monitored", h.Tier >= 1, "tier %d: %d trips, %d resets", h.Tier, trips, b.Resets),
		is("use of caps is tracked for each agent", len(h.Caps) > 0 && used > 0, "%d caps are in use by agents; %d actions were over one", used, over),
	}
}

// tracked says whether the judge's errors are tracked. What it was right about is in no log: it is measured on labelled cases.
func tracked(h Home) Indicator {
	const name = "false positives and negatives of the judge are tracked"
	if len(h.Judges) == 0 {
		return is(name, false, noJudge)
	}
	return unknown(name, "the log does not hold what would have been right; interlock judge test measures it")
}

func share(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

func optimising(b *Book) []Indicator {
	boxed := is("tasks have a time box", b.Runs > 0 && b.Boxed == b.Runs, "%d of %d registered runs have one", b.Boxed, b.Runs)
	if b.Runs == 0 {
		boxed = unknown(boxed.Name, "no run was registered")
	}
	return []Indicator{
		unknown("caps are enforced by the platform",
			"caps are held by the store's transactions and the sandbox; whether agents have another way out can't be "+
				"told from the log"),
		is("agents that fail are replaced and return by themselves", false, "nothing in the log shows it"),
		is("a second model cross-validates", false, noJudge),
		boxed,
		is("rules are tuned by what happened", len(b.Orders) > 0, "%d orders put rules in force", len(b.Orders)),
	}
}
