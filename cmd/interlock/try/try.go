package try

import (
	"bytes"
	"context"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/console"
	"interlock/internal/explain"
	"interlock/internal/gitwork"
	"interlock/internal/ledger"
)

// Supposed is an action as if an agent proposed it where it says. Nobody did, and nothing is recorded.
func Supposed(settings config.Config, action interlock.Action, agent string) admission.Case {
	proposal := admission.Case{Proposal: interlock.Proposal{Action: action, Requester: interlock.Requester{Agent: agent}, CanAsk: true,
		View: interlock.View{Production: settings.Production}}}
	if action.Dir != "" {
		proposal.View = embedded.GatherView(settings, action.Dir)
		proposal.Read, proposal.Work = embedded.ReadScripts, gitwork.Look
	}
	return proposal
}

// ActionOf reads an action that somebody typed. A string kind takes the text as it is; an object kind takes JSON.
func ActionOf(kind, dir string, input []byte) (interlock.Action, error) {
	if interlock.Kind(kind).TakesObject() {
		return admission.ParseAction(kind, bytes.TrimSpace(input), dir)
	}
	if len(bytes.TrimSpace(input)) == 0 {
		return interlock.Action{}, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "INPUT",
			"is missing; give it as an argument or on standard input"))
	}
	return interlock.Action{Kind: interlock.Kind(kind), Input: string(input), Dir: dir}, admission.CheckText("/input", string(input))
}

// Trial explains what an operator supposes in the console, as `interlock check --explain` does, under the rules in force now. Nothing is
// recorded and nobody is asked.
func Trial(p *cli.Program, backend *embedded.Backend) func(context.Context, console.Trial) (console.Tried, error) {
	return func(ctx context.Context, t console.Trial) (console.Tried, error) {
		action, err := ActionOf(string(t.Kind), t.Dir, []byte(t.Input))
		if err != nil {
			return console.Tried{}, err
		}
		var standing ledger.Standing
		if t.Agent != "" {
			known, err := backend.Ground(ctx, cli.Ref(ledger.Agent, t.Agent))
			if err != nil {
				return console.Tried{}, err
			}
			if !known.Agents[t.Agent].Revoked.IsZero() {
				return console.Tried{}, interlock.Errorf(interlock.CodeUnauthorized, "agent",
					"%.40q is revoked; whatever it asks is refused", t.Agent)
			}
			standing.Agents = known.Agents
		}
		settings := backend.Settings
		evaluator := admission.Evaluator{Rules: backend.Rules(), Analyser: backend.Analyser(), Mode: settings.Mode, Profile: settings.Profile,
			Attended: !settings.Unattended, Quiet: settings.QuietHours.Contain, Texts: backend.Texts()}
		proposal := Supposed(settings, action, t.Agent)
		if !t.Files {
			proposal.Read, proposal.Work = nil, nil
		}
		at := cli.Now()
		decision := admission.Decide(&evaluator, &proposal, standing, at)
		tried := console.Tried{Decision: explain.WithoutSecrets(decision),
			Why: *explain.Of(&evaluator, proposal, standing, decision, at)}
		p.WaysHere(&tried.Why)
		return tried, nil
	}
}
