package hook

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
)

func TestOwnServer(t *testing.T) {
	for tool, want := range map[string]string{
		"mcp__interlock__shelf_fetch_text": "interlock", "mcp__interlock-gateway__a_b": "interlock-gateway", "mcp__interlock__a-b": "interlock",
		"mcp__interlock__": "", "mcp__interlock": "", "mcp__interlock__a__b": "", "mcp__interlock___a": "",
		"mcp__other__interlock": "", "Bash": "", "interlock__x": "",
		"mcp__interlockx__y": "interlockx",
	} {
		if got := ownServer(tool); got != want {
			t.Errorf("%s goes to %q, want %q", tool, got, want)
		}
	}
}

// Only a question makes anybody look where a call goes, and only where it goes to the gateway for certain is it left to that.
func TestWhoLooksWhereACallGoes(t *testing.T) {
	question := interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask}}
	for _, test := range []struct {
		name    string
		payload string
		first   interlock.Answer // to the first proposal
		gateway func(context.Context, Call) bool
		want    []interlock.Handover
		known   bool
	}{
		{"an allow", "", interlock.Answer{Event: "e1"}, nil, []interlock.Handover{"unsure"}, true},
		{"a question, and it is the gateway", "", interlock.Answer{Decision: question.Decision, Unsure: true}, yes,
			[]interlock.Handover{"unsure", "gateway"}, true},
		{"a question, and it is another", "", interlock.Answer{Decision: question.Decision, Unsure: true}, no, []interlock.Handover{"unsure", ""}, true},
		{"a question, and nobody can tell", "", interlock.Answer{Decision: question.Decision, Unsure: true}, nil, []interlock.Handover{"unsure"}, false},
		{"a question of a subagent", `"agent_id":"a1",`, question, yes, []interlock.Handover{""}, true},
		{"a question of an agent of its own kind", `"agent_type":"shelver",`, question, yes, []interlock.Handover{""}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			call, err := Parse("claude", []byte(`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse",`+test.payload+
				`"tool_name":"mcp__interlock__shelf_fetch_text","tool_use_id":"t","tool_input":{}}`), Environment{Unattended: true})
			if err != nil {
				t.Fatal(err)
			}
			var asked []interlock.Handover
			environment := Environment{Gateway: test.gateway}
			_, known, err := call.propose(t.Context(), 0, environment, func(h interlock.Handover, _ interlock.Proposal) (interlock.Answer, error) {
				asked = append(asked, h)
				if len(asked) == 1 {
					return test.first, nil
				}
				return interlock.Answer{Event: "e2"}, nil
			})
			if diff := cmp.Diff(test.want, asked); diff != "" || err != nil || known != test.known {
				t.Errorf("known %v, %v (-want +got):\n%s", known, err, diff)
			}
		})
	}
}

func yes(context.Context, Call) bool { return true }
func no(context.Context, Call) bool  { return false }

// An answer that leaves a question to the gateway silences no call but one that this hook saw to go there.
func TestRenderLeavesNoOtherCallToTheGateway(t *testing.T) {
	left := interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Ask, Answer: interlock.Ask}, Event: "e", Gateway: true}
	for handover, silent := range map[interlock.Handover]bool{"": false, interlock.HandoverOffered: false,
		interlock.HandoverUnsure: false, interlock.HandoverGateway: true} {
		call := Call{Agent: "claude", Event: "PreToolUse", Phase: Before, Handover: handover, Proposals: make([]interlock.Proposal, 1)}
		if out := Render(call, nil, left); (len(out.Stdout) == 0) != silent {
			t.Errorf("%q: %s", handover, out.Stdout)
		}
	}
}
