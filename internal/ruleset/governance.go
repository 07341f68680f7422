package ruleset

import (
	"fmt"
	"slices"
	"time"

	"interlock/internal/strictyaml"
)

// A GovernanceCase is a test of who may order or answer what: people, what one of them orders or several answer, and whether that
// counts. Documents carry them beside rules; package ruletest runs them, and nothing decides by them.
type GovernanceCase struct {
	Case      string               `json:"case"` // what it says, in a few words
	Operators []GovernanceOperator `json:"operators,omitempty"`
	Agents    []GovernanceAgent    `json:"agents,omitempty"`
	// one of these
	Order   *GovernanceOrder   `json:"order,omitempty"`
	Request *GovernanceRequest `json:"request,omitempty"`
	Replay  *GovernanceReplay  `json:"replay,omitempty"`

	// of an order or a replay counts or refused, of a request approved, denied, waits or refused
	Want string `json:"want"`
	Code string `json:"code,omitempty"` // of the refusal
	Says string `json:"says,omitempty"` // part of its sentence
}

// A GovernanceOperator is an operator of a case. Without a key it has one of its own.
type GovernanceOperator struct {
	Name    string   `json:"name"`
	Role    string   `json:"role"`
	Teams   []string `json:"teams,omitempty"`
	Key     string   `json:"key,omitempty"`
	Revoked bool     `json:"revoked,omitempty"`
}

// A GovernanceAgent is a registered agent of a case.
type GovernanceAgent struct {
	ID        string `json:"id"`
	Principal string `json:"principal,omitempty"`
}

// A GovernanceOrder is an order of a case. What is not said is as it should be: signed just now, by its operator, in these words.
type GovernanceOrder struct {
	Verb    string `json:"verb"`
	By      string `json:"by"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail,omitempty"`
	About   string `json:"about,omitempty"`   // the agent whose freedom it is about
	Signed  string `json:"signed,omitempty"`  // by, nobody, otherwise (in other words), passkey, or an operator's name
	Age     string `json:"age,omitempty"`     // how long ago it was given
	For     string `json:"for,omitempty"`     // of a grant or a suppression: how long it is to stand
	Times   int    `json:"times,omitempty"`   // of a grant
	Command string `json:"command,omitempty"` // of a grant or a suppression: the glob
	Denials bool   `json:"denials,omitempty"` // of a suppression
}

// A GovernanceRequest is a request of a case and how it is answered, one answer after the other.
type GovernanceRequest struct {
	Agent       string             `json:"agent,omitempty"`
	Principal   string             `json:"principal,omitempty"`
	Obligations []string           `json:"obligations,omitempty"` // "admin", "approvers role:admin team:dba"
	Age         string             `json:"age,omitempty"`         // it waits an hour
	Answers     []GovernanceAnswer `json:"answers"`
}

// A GovernanceAnswer is one answer to it.
type GovernanceAnswer struct {
	By     string `json:"by"`
	Says   string `json:"says"`             // allow or deny
	Signed string `json:"signed,omitempty"` // as of an order
}

// A GovernanceReplay is a replay in a mode, by the orders of some, and its going on by the orders of others.
type GovernanceReplay struct {
	Mode  string   `json:"mode"`
	By    []string `json:"by"`
	Force []string `json:"force,omitempty"`
}

// maxGovernance is how many cases one document may have.
const maxGovernance = 1000

// Governance lists the cases of the operator's documents, in the order of the documents' names.
func (r *Ruleset) Governance() []GovernanceCase { return slices.Clone(r.governance) }

// GovernanceCases reads cases from a document of their own.
func GovernanceCases(name string, data []byte) ([]GovernanceCase, error) {
	doc, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var d struct {
		Governance []GovernanceCase `json:"governance"`
	}
	if err := doc.Decode(&d); err != nil {
		return nil, err
	}
	return d.Governance, governance(doc, d.Governance)
}

// governance refuses cases that say too little to be run.
func governance(doc *strictyaml.Document, cases []GovernanceCase) error {
	if len(cases) > maxGovernance {
		return doc.Errorf("/governance", "there are more than %d cases", maxGovernance)
	}
	for i := range cases {
		c, at := &cases[i], fmt.Sprintf("/governance/%d", i)
		want, parts := []string{"counts", "refused"}, 0
		if c.Request != nil {
			want = []string{"approved", "denied", "waits", "refused"}
		}
		for _, has := range []bool{c.Order != nil, c.Request != nil, c.Replay != nil} {
			if has {
				parts++
			}
		}
		switch {
		case c.Case == "":
			return doc.Errorf(at, "the case says nothing of what it is; fill in case")
		case parts != 1:
			return doc.Errorf(at, "a case has one of order, request and replay")
		case !slices.Contains(want, c.Want):
			return doc.Errorf(at+"/want", "is one of %v", want)
		case c.Want != "refused" && (c.Code != "" || c.Says != ""):
			return doc.Errorf(at+"/code", "only a refusal has a code and a sentence")
		}
		for _, text := range c.lengths() {
			if _, err := time.ParseDuration(text); text != "" && err != nil {
				return doc.Errorf(at, "%.20q is no length of time such as 11m", text)
			}
		}
	}
	return nil
}

// lengths are the lengths of time in a case.
func (c *GovernanceCase) lengths() (list []string) {
	if c.Order != nil {
		list = append(list, c.Order.Age, c.Order.For)
	}
	if c.Request != nil {
		list = append(list, c.Request.Age)
	}
	return list
}
