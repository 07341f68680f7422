package console

import (
	"fmt"
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// A check is whether one thing works that the others rest on.
type check struct {
	Name  string
	State string // good, warn, bad or none
	Says  string
	Href  string
}

// Space is how much room a disk has, in bytes.
type Space struct{ Free, Total uint64 }

// noSpace is the room below which a disk is a worry; below LittleSpace it is worth a word.
const noSpace = 256 << 20

// checks are what else the overview says about how things are. What can't be asked is said to be so.
func (c *Console) checks(r *http.Request) []check {
	mode := check{Name: "Mode", State: "good", Says: fmt.Sprintf("%s, profile %s", c.config.Facts.Mode, c.config.Facts.Profile), Href: "/system"}
	if c.config.Facts.Mode != interlock.Enforcing {
		mode.State, mode.Says = "bad", fmt.Sprintf("%s: nothing is held back", c.config.Facts.Mode)
	}
	list := []check{mode, c.logCheck(r), c.hookCheck()}
	if c.config.Disk != nil {
		list = append(list, c.diskCheck())
	}
	channels := check{Name: "Channels", State: "good", Says: titleList(c.config.Facts.Channels), Href: "/system#channels"}
	if len(c.config.Facts.Channels) == 0 {
		channels.State, channels.Says = "none", "none: questions and codes wait here for somebody who looks"
	}
	list = append(list, channels)
	if c.config.Push != nil {
		list = append(list, c.pushCheck(r))
	}
	return append(list, c.shadowCheck(r))
}

func (c *Console) logCheck(r *http.Request) check {
	one := check{Name: "Log", State: "good", Href: "/system#log"}
	head, err := c.config.Log.Head(r.Context())
	switch {
	case err != nil:
		one.State, one.Says = "bad", "it can't be read"
	case head.Size > 0 && len(head.Checkpoint) == 0:
		one.State, one.Says = "bad", "its newest head is not signed"
	default:
		one.Says = render.Numbered(int(head.Size), "event", "events") + " under a signed head"
	}
	return one
}

// hookCheck takes what is wrong from the warnings, which stand at the top of every page.
func (c *Console) hookCheck() check {
	one := check{Name: "Hooks", State: "good", Says: "nothing is wrong with what is registered", Href: "/system"}
	if c.config.Warnings == nil {
		one.State, one.Says = "none", "nobody looks after them here"
	} else if wrong := c.config.Warnings(); len(wrong) > 0 {
		one.State, one.Says = "bad", render.Numbered(len(wrong), "thing is wrong: it stands", "things are wrong: they stand")+
			" at the top of this page"
	}
	return one
}

func (c *Console) diskCheck() check {
	one := check{Name: "Disk", State: "good", Href: "/system"}
	space, err := c.config.Disk()
	if err != nil || space.Total == 0 {
		one.State, one.Says = "warn", "it can't be told how much room is left"
		return one
	}
	one.Says = fmt.Sprintf("%s free of %s", bytesInWords(space.Free), bytesInWords(space.Total))
	switch {
	case space.Free < noSpace:
		one.State, one.Says = "bad", one.Says+": when it is full, nothing is allowed any more"
	case space.Little():
		one.State = "warn"
	}
	return one
}

func bytesInWords(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

func (c *Console) shadowCheck(r *http.Request) check {
	one := check{Name: "Shadow rules", State: "none", Says: "no ruleset decides beside the one in force", Href: "/rules/past"}
	if c.config.Shadow == nil {
		return one
	}
	state, err := c.config.Shadow(r.Context())
	switch {
	case err != nil:
		one.State, one.Says = "warn", "it can't be told what decides in the shadow"
	case state.Shadow != nil && state.Over:
		one.Says = "a shadow has run its time: look at what it found"
	case state.Shadow != nil:
		parted := 0
		for _, change := range state.Shadow.Changes {
			parted += change.Count
		}
		one.State = "good"
		one.Says = fmt.Sprintf("one has decided %s; %s otherwise than those in force", render.Numbered(state.Shadow.Decisions, "time",
			"times"),
			render.Comma(int64(parted)))
	}
	return one
}

// peopleCheck says whether people still look at what they answer.
func peopleCheck(answers []quorum.Answered) check {
	one := check{Name: "People", State: "good", Says: "nothing suggests that they have stopped looking", Href: "/system#people"}
	health := quorum.HealthOf(answers)
	switch {
	case len(health.Alarms) > 0:
		one.State, one.Says = "warn", health.Alarms[0]
	case health.Answers == 0:
		one.State, one.Says = "none", "nobody has answered a question yet"
	case health.Answers < 10:
		one.Says = "too few answers to tell whether they look"
	}
	return one
}

// LittleSpace is the room on a disk below which it is worth a word, in bytes: enough for some hundred thousand decisions.
const LittleSpace = 500 << 20

// Little reports whether a disk has so little room that somebody should see to it.
func (s Space) Little() bool { return s.Free < LittleSpace }

// InWords is a number of bytes as people read it.
func InWords(n uint64) string { return bytesInWords(n) }

// healthReads is how many of the newest requests the figures about answers are made of.
const healthReads = 200

// systemPage shows what runs here and whether its people still decide.
func (c *Console) systemPage(w http.ResponseWriter, r *http.Request) {
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	people, err := core.Operators(r.Context(), c.config.Backend)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	requests, err := core.RequestsWith(r.Context(), c.config.Backend, "", healthReads)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var answers []quorum.Answered
	expired := 0
	for _, request := range requests {
		if request.Approval != nil && request.Approval.Method != interlock.MethodCode {
			answers = append(answers, quorum.AnsweredFrom(request, *request.Approval))
		} else if request.Status == interlock.RequestExpired {
			expired++
		}
	}
	operators := make([]interlock.OperatorRecord, 0, len(people))
	for _, operator := range people {
		operators = append(operators, operator)
	}
	sort.Slice(operators, func(i, j int) bool { return operators[i].Name < operators[j].Name })
	standing, err := c.config.Backend.Ground(r.Context(), append(governance.RulesOrdered(),
		ledger.Ref{Kind: ledger.Hold, Mark: ledger.All})...)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	stop, err := c.stoppedNow(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	by, refused := governance.OrderedBy(standing.Settings)
	var held, acting []ledger.HoldBody
	for _, h := range standing.Holds() {
		if h = h.AsOf(c.config.Now()); h.State() != "" {
			acting = append(acting, h)
		} else {
			held = append(held, h)
		}
	}
	fullest, _, _, err := c.fullest(r, render.TopGauges)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	drill, err := c.lastDrill(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	rules := c.config.Facts.Rules()
	c.render(w, r, http.StatusOK, "system.html", "System", struct {
		Facts
		Started    time.Time
		Ruleset    interlock.Digest
		RuleCount  int
		Unordered  bool // nobody with the admin role ordered the operator's rules that are in force
		Refused    interlock.Digest
		Holds      []ledger.HoldBody
		Stopped    *stopped          // nil: nothing is
		Acting     []ledger.HoldBody // phases and breakers
		Fullest    []render.Gauge
		Drill      *line // the newest, if it was lately
		Head       ledger.Head
		Key        *auditlog.PublicKey
		Signed     string
		Health     quorum.Health
		Requests   int
		Expired    int
		Operators  []interlock.OperatorRecord
		Streams    int64
		Median     time.Duration
		InOffice   func(interlock.OperatorRecord) bool
		Percentage func(float64) int
	}{c.config.Facts, c.started, rules.Digest(), len(rules.Rules()),
		by == core.RulesUnordered, refused, held, stop, acting, fullest, drill, head, c.config.Facts.Key,
		string(head.Checkpoint),
		quorum.HealthOf(answers), len(requests), expired, operators, c.streams.Load(),
		quorum.HealthOf(answers).Median.Round(100 * time.Millisecond),
		func(o interlock.OperatorRecord) bool { return inOffice(o, c.config.Now()) },
		func(share float64) int { return int(share*100 + .5) }})
}
