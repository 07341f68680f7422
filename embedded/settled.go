package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	admissiongovernance "interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store"
)

// Settled are the settings that are in force: of those that somebody wrote and those that an admin ordered, or that are the default, the
// stricter, in a home that somebody governs. See [config.Settings].
type Settled struct {
	config.Config
	Order   admissiongovernance.OrderedSettings // the order in force, if there is one
	Refused []Refusal                           // settings that have no effect

	governed bool
	replaced bool          // the home is another than hooks were installed for: who governed that one is not known here
	base     config.Config // what is ordered, or is the default
}

// A Refusal is a setting that has no effect.
type Refusal struct {
	Name    string
	Wanted  string // as JSON; empty where it names people or secrets
	InForce string
}

// settledBy finds out what is in force in place of settings that somebody wrote. Without anybody who governs it is these: nobody could
// order others.
func settledBy(ctx context.Context, wanted config.Config, port store.Port, verify quorum.Verifier, pin string) (Settled, error) {
	settled := Settled{Config: wanted}
	order, err := admissiongovernance.ReadSettingsOrder(ctx, port.Load, verify, time.Now().UTC())
	if err != nil {
		return settled, err
	}
	base := config.Baseline(wanted.Home)
	if settled.Order = order; order.ID != "" {
		ordered, err := config.Ordered(wanted.Home, order.Departures)
		switch {
		case err != nil:
			settled.Order.Problem = err.Error()
		case order.Problem == "":
			base = ordered
		default: // what it made stricter stays so
			base, _ = config.Stricter(base, ordered)
		}
		settled.governed = true
	}
	settled.base = base
	inForce, weaker := config.Stricter(base, wanted)
	if len(weaker) == 0 {
		settled.Config = inForce
		return settled, nil
	}
	if !settled.governed {
		if settled.governed, err = isGoverned(ctx, port); err == nil && !settled.governed {
			user, _ := os.UserHomeDir() // without one no hook was installed
			settled.replaced = harness.Replaced(user, wanted.Home, pin)
		}
		if err != nil || !settled.governed && !settled.replaced {
			return settled, err
		}
	}
	settled.Config = inForce
	for _, g := range weaker {
		refusal := Refusal{Name: g.Name}
		if !g.Private {
			refusal.Wanted, refusal.InForce = g.Shown(wanted), g.Shown(inForce)
		}
		settled.Refused = append(settled.Refused, refusal)
	}
	return settled, nil
}

// isGoverned reports whether anybody governs the home, or ever did.
func isGoverned(ctx context.Context, port store.Port) (bool, error) {
	rows, _, err := port.Load(ctx, ledger.Ref{Kind: ledger.Operator, Mark: ledger.All}) // with proofs that nobody is missing
	if err != nil {
		return false, err
	}
	operators := map[string]interlock.OperatorRecord{}
	for _, row := range rows {
		if o, ok := row.Value.(interlock.OperatorRecord); ok {
			operators[o.Name] = o
		}
	}
	return admissiongovernance.HasGovernor(ledger.Standing{Operators: operators}), nil
}

// maxSaidSetting bounds what is said of one setting, in bytes.
const maxSaidSetting = 60

// Says is one sentence about the settings that have no effect and what to do; empty if there are none.
func (s Settled) Says() string {
	if len(s.Refused) == 0 {
		return ""
	}
	var list []string
	for _, r := range s.Refused {
		said := r.Name
		if r.Wanted != "" && len(r.Wanted)+len(r.InForce) <= maxSaidSetting {
			said = fmt.Sprintf("%s (%s; in force: %s)", r.Name, r.Wanted, r.InForce)
		}
		list = append(list, said)
	}
	why := ""
	if s.Order.Problem != "" {
		why = fmt.Sprintf(" (the order of %.64q counts no more: %s)", s.Order.Operator, s.Order.Problem)
	}
	if s.replaced {
		return "this home is another than the one that hooks were installed for, so settings that are weaker than the default have no effect: " +
			strings.Join(list, ", ") + "; if you began it anew, run interlock install again; otherwise look for who took the one of before away"
	}
	return "settings that are weaker than an admin has ordered" + why + " have no effect: " + strings.Join(list, ", ") +
		"; put them back, or have an admin order them: interlock settings adopt --key FILE --reason TEXT"
}

// record adds to what decisions are recorded with on whose order the settings are.
func (s Settled) record(r admission.Recorder) admission.Recorder {
	if s.Order.ID != "" {
		r.Governance = maps.Clone(r.Governance)
		r.Governance["settings_order"] = s.Order.ID
	}
	return r
}

// settingsKnown refuses an order about settings that this program could not go by.
func settingsKnown(home string) func(departures map[string]json.RawMessage) error {
	return func(departures map[string]json.RawMessage) error {
		_, err := config.Ordered(home, departures)
		return err
	}
}

// Weaker names the settings that are weaker in a process that runs than they would be if it were started now.
func (s Settled) Weaker(runs config.Config) (names []string) {
	if !s.governed {
		return nil
	}
	_, weaker := config.Stricter(s.base, runs)
	for _, g := range weaker {
		names = append(names, g.Name)
	}
	return names
}

// Settle is what would be in force now in place of settings that somebody wrote.
func (b *Backend) Settle(ctx context.Context, wanted config.Config) (Settled, error) {
	return settledBy(ctx, wanted, b.Store, b.verify, b.Answers.Pin())
}

// SettingsOrder is the order about settings that is in force now.
func (b *Backend) SettingsOrder(ctx context.Context) (admissiongovernance.OrderedSettings, error) {
	return admissiongovernance.ReadSettingsOrder(ctx, b.Store.Load, b.verify, time.Now().UTC())
}

// proofs checks what proves an operator's words as the settings have it. What says who ordered the settings is checked without them.
func proofs(c config.Config, sealer *auditlog.Sealer) quorum.Verifier {
	p := identity.Proofs{Attested: sealer.Public().CheckAttestation}
	if c.Council.Second {
		p.Second = quorum.Seconds
	}
	return p.Verify
}
