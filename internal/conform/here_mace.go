package conform

import "fmt"

// A Governance is how a home is set up, as far as clauses of the MACE safety boundaries depend on that.
type Governance struct {
	Seats, Quorum int  // members of the council in office, and how many it takes
	Governs       bool // it decides on rules, settings and who governs
	Superadmins   int
	Admins        int
	Auditors      int
	Texts         string // what servers' texts are classified by; "off": nothing
	Redacts       bool   // personal data is taken out of what is recorded
	Inputs        bool   // what decisions are made from is kept
}

// hereMACE is what clauses of the MACE safety boundaries ask of a home.
func hereMACE() []hereCheck {
	seated := func(h Home) (Word, string) {
		g := h.Governance
		return word(g.Seats >= g.Quorum), fmt.Sprintf("%d sit on the council, and its quorum is %d (interlock operator add NAME --role council)", g.Seats,
			g.Quorum)
	}
	dual := func(h Home) (Word, string) {
		return word(h.Governance.Superadmins > 0 && h.Governance.Admins > 0), fmt.Sprintf("%d superadmins and %d admins; an emergency takes one of each",
			h.Governance.Superadmins, h.Governance.Admins)
	}
	governs := func(h Home) (Word, string) {
		return word(h.Governance.Governs && h.Governance.Seats >= h.Governance.Quorum),
			fmt.Sprintf("council.governs: %t, %d of a quorum of %d sit", h.Governance.Governs, h.Governance.Seats, h.Governance.Quorum)
	}
	return []hereCheck{
		{"MACE-1-1", 1, func(h Home) (Word, string) { return word(h.Enforcing), fmt.Sprintf("enforcing: %t", h.Enforcing) }},
		{"MACE-1-2", 1, func(h Home) (Word, string) {
			return word(h.Governance.Inputs), fmt.Sprintf("what decisions are made from is kept: %t (forget_inputs)", h.Governance.Inputs)
		}},
		{"MACE-2-1", 1, seated}, {"MACE-2-7", 1, seated}, {"MACE-3.2-3", 1, seated}, {"MACE-11-2", 1, seated},
		{"MACE-3.1-1", 1, func(h Home) (Word, string) {
			return word(h.Governance.Texts != "off"), "servers' texts are classified by " + h.Governance.Texts + " (gateway: {texts: mace-stage1})"
		}},
		{"MACE-4-1", 1, func(h Home) (Word, string) {
			return word(h.Governance.Redacts), fmt.Sprintf("personal data is taken out of the log: %t (privacy: {log: redact})", h.Governance.Redacts)
		}},
		{"MACE-7-1", 1, func(h Home) (Word, string) {
			return word(len(h.Rates) > 0), "limits on every agent's actions: " + none(h.Rates)
		}},
		{"MACE-8.1-2", 1, dual}, {"MACE-S-04", 1, dual},
		{"MACE-GOV-7", 1, governs}, {"MACE-GOV-8", 1, governs},
		{"MACE-LOG-1", 1, func(h Home) (Word, string) {
			return word(h.Checkpoint), fmt.Sprintf("signed head: %t; interlock audit verify reads it all", h.Checkpoint)
		}},
		{"MACE-12-12", 1, func(h Home) (Word, string) { return word(h.Control), fmt.Sprintf("control door: %t", h.Control) }},
	}
}
