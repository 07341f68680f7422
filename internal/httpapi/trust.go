package httpapi

import (
	"encoding/json"

	"interlock"
	"interlock/internal/gate"
)

// trustBody tells an agent with a token that its own trust is why it may not do more, and how that is raised. A hook's agent, which
// nobody registered, has the trust of the profile.
type trustBody struct {
	Has   interlock.Trust `json:"has"`
	Needs interlock.Trust `json:"needs"` // the least with which nothing would be said
	Raise string          `json:"raise"` // who does it, and how: a level at a time
}

// trusted says that of an answer, where an operation's danger is held against the agent; nil where trust is not why.
func (x *exchange) trusted(a *interlock.Answer) *trustBody {
	if !x.token {
		return nil
	}
	for n := range a.Findings {
		f := &a.Findings[n]
		if f.Verdict == interlock.Allow || f.Rule != "danger."+a.Danger.String() {
			continue
		}
		needs, found := gate.FreeTrust(a.Danger)
		has := x.agent.TrustAt(x.server.config.Now())
		if !found || has >= needs {
			return nil
		}
		return &trustBody{Has: has, Needs: needs,
			Raise: "an operator who has examined the agent: interlock trust promote " + x.agent.ID + " --evidence TEXT"}
	}
	return nil
}

// appendTrust adds it to an encoded answer.
func (x *exchange) appendTrust(answer []byte, a *interlock.Answer) []byte {
	trust := x.trusted(a)
	if trust == nil || len(answer) == 0 {
		return answer
	}
	text, err := json.Marshal(trust)
	if err != nil {
		return answer // it explains, and nothing rests on it
	}
	answer = append(answer[:len(answer)-1], `,"trust":`...)
	return append(append(answer, text...), '}')
}
