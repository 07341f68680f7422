package console

import (
	"net/http"
	"sort"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// healthReads is how many of the newest requests the figures about answers are made of.
const healthReads = 200

// systemPage shows what runs here and whether its people still decide.
func (c *Console) systemPage(w http.ResponseWriter, r *http.Request) {
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	people, err := admission.Operators(r.Context(), c.config.Backend)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	requests, err := admission.RequestsWith(r.Context(), c.config.Backend, "", healthReads)
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
	standing, err := c.config.Backend.Ground(r.Context(), append(admission.RulesOrdered(),
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
	by, refused := admission.OrderedBy(standing.Settings)
	var held, acting []ledger.HoldBody
	for _, h := range standing.Holds() {
		if h = h.AsOf(c.config.Now()); h.State() != "" {
			acting = append(acting, h)
		} else {
			held = append(held, h)
		}
	}
	fullest, _, _, err := c.fullest(r, topGauges)
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
		Fullest    []gauge
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
		by == admission.RulesUnordered, refused, held, stop, acting, fullest, drill, head, c.config.Facts.Key,
		string(head.Checkpoint),
		quorum.HealthOf(answers), len(requests), expired, operators, c.streams.Load(),
		quorum.HealthOf(answers).Median.Round(100 * time.Millisecond),
		func(o interlock.OperatorRecord) bool { return inOffice(o, c.config.Now()) },
		func(share float64) int { return int(share*100 + .5) }})
}
