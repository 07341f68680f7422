package console

import (
	"fmt"
	"math"
	"net/http"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/console/render"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Orders about who there is begin on the command line, which prints the address of the page that shows one: so a person whose
// only key is a passkey governs as well as one with an SSH key.

// takeAgent reads an order to register an agent: in full what would be so, as its address may come from anybody.
func takeAgent(d *drafting) (detail string, about interlock.Requester, err error) {
	detail = d.query.Get("detail")
	if identity.CheckNamed("subject", d.subject) != nil {
		err = identity.CheckName("subject", d.subject)
	}
	if err == nil {
		_, err = governance.TermsOf[governance.AgentTerms](detail)
	}
	return detail, about, err
}

// agentSays says who is registered.
func agentSays(order quorum.Given) string {
	terms, _ := governance.TermsOf[governance.AgentTerms](order.Detail) // it was read before it was shown
	return fmt.Sprintf("The agent %s is registered with the trust %s. Whoever has the token that was printed acts as it.",
		order.Subject, terms.Trust)
}

// takeWeakKeys reads an order about keys without a passphrase.
func takeWeakKeys(d *drafting) (detail string, about interlock.Requester, err error) {
	detail = d.query.Get("detail")
	if d.subject != core.WeakKeysSubject || detail != core.WeakKeysMay && detail != core.WeakKeysMayNot {
		err = interlock.Errorf(interlock.CodeInvalid, "detail", "the order doesn't say whether they may sign")
	}
	return detail, about, err
}

// takeName reads an order about somebody, who is looked up where it is carried out.
func takeName(d *drafting) (string, interlock.Requester, error) {
	return d.query.Get("detail"), interlock.Requester{}, nil
}

// takeOperator reads an order that adds or changes an operator, as takeAgent reads one about an agent.
func takeOperator(d *drafting) (detail string, about interlock.Requester, err error) {
	detail = d.query.Get("detail")
	if err = identity.CheckName("subject", d.subject); err != nil {
		return detail, about, err
	}
	terms, err := governance.TermsOf[governance.OperatorTerms](detail)
	if err != nil || terms.SSHKey == "" {
		return detail, about, err
	}
	key, err := identity.ParsePublicKey([]byte(terms.SSHKey))
	if err == nil && key.String() != terms.SSHKey {
		err = interlock.Errorf(interlock.CodeInvalid, "detail", "the key is not in its plain form")
	}
	return detail, about, err
}

// operatorSays says what an operator would be from then on.
func operatorSays(order quorum.Given) string {
	terms, _ := governance.TermsOf[governance.OperatorTerms](order.Detail)
	var parts []string
	if terms.Role != "" {
		parts = append(parts, "has the role "+terms.Role)
	}
	if terms.Teams != nil {
		parts = append(parts, "is of the teams "+strings.Join(terms.Teams, ", "))
	}
	if key, err := identity.ParsePublicKey([]byte(terms.SSHKey)); err == nil {
		parts = append(parts, "signs with the key "+key.Fingerprint())
	}
	if terms.Enrolment != nil {
		parts = append(parts, "may register a passkey by the link that was printed, once")
	}
	if terms.Passkey != "" {
		parts = append(parts, "loses the passkey "+terms.Passkey)
	}
	return order.Subject + " " + strings.Join(parts, ", ") + ". Whoever has these keys answers and orders under this name."
}

// A trusted is a registered agent on the page about trust.
type trusted struct {
	interlock.AgentRecord
	InForce interlock.Trust
	Lapsed  bool              // the certificate has expired
	Next    string            // the level above; empty at the top
	Lower   []interlock.Trust // the levels below
	Rungs   []render.Rung
	Takes   string // what the next step takes
}

// trustPage shows how far each registered agent is trusted, and what changed lately.
func (c *Console) trustPage(w http.ResponseWriter, r *http.Request) {
	now, only := c.config.Now(), r.URL.Query().Get("agent")
	agents, err := c.registered(r, only)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	var list []trusted
	for _, record := range agents.Rows {
		if !record.Revoked.IsZero() {
			continue
		}
		one := trusted{AgentRecord: record, InForce: record.TrustAt(now), Lapsed: record.TrustAt(now) != record.Trust}
		if one.InForce < interlock.TrustCertified {
			one.Next, one.Takes = (one.InForce + 1).String(), render.Takes(one.InForce+1)
		}
		for level := interlock.TrustUntested; level < one.InForce; level++ {
			one.Lower = append(one.Lower, level)
		}
		one.Rungs = render.Rungs(c.config.Facts.Rules(), c.config.Facts.Profile, one.InForce)
		list = append(list, one)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	var changes []line
	_, err = c.back(r.Context(), -1, func(e interlock.Entry) bool {
		if e.Type == interlock.EventTrust {
			changes = append(changes, c.lineFor(r, e))
		}
		return len(changes) < 20
	})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "trust.html", "Trust", struct {
		Agents    []trusted
		Changes   []line
		Certified interlock.Trust
		Now       time.Time
		More      int
		One       string // the agent that alone is shown
		Levels    []render.Rung
		Briefly   bool // there are so many that each is a line, and leads to a page of its own
	}{list, changes, interlock.TrustCertified, now, agents.More(), only,
		render.Rungs(c.config.Facts.Rules(), c.config.Facts.Profile, interlock.TrustCertified), len(list) > maxWhole})
}

// maxWhole is how many agents the page about trust shows with their forms.
const maxWhole = 25

// registered are the agents that are registered, as far as a page lists them, or the one that is named.
func (c *Console) registered(r *http.Request, only string) (list core.List[interlock.AgentRecord], err error) {
	if only == "" {
		return core.Listed[interlock.AgentRecord](r.Context(), c.config.Backend, ledger.Agent, newest(math.MinInt64))
	}
	standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Agent, only))
	if record, known := standing.Agents[only]; known {
		list.Rows, list.All = []interlock.AgentRecord{record}, 1
	}
	return list, err
}

// trustHere is the level that an agent goes by: its own, or, where nobody registered it, the profile's.
func (c *Console) trustHere(record interlock.AgentRecord, registered bool) interlock.Trust {
	if registered {
		return record.TrustAt(c.config.Now())
	}
	if profile, known := c.config.Facts.Rules().Profile(c.config.Facts.Profile); known {
		return profile.Trust
	}
	return interlock.TrustUntested
}
