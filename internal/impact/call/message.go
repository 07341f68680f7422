package call

import (
	"encoding/json"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/strictjson"
)

// message reads a message between two agents, which Interlock itself carries: what is in it is looked at where it is carried. It has
// another agent do something, and nothing else.
func (s callRun) message(name string, args json.RawMessage) bool {
	if name != interlock.ToolMessageSend && name != interlock.ToolMessageReceive {
		return false
	}
	var m struct {
		From  string `json:"from"`
		To    string `json:"to"`
		Bytes int64  `json:"bytes"`
	}
	if strictjson.DecodeLenient(args, &m) != nil {
		return false
	}
	i := interlock.Impact{Kind: interlock.ImpactSpawn, Target: "agent " + m.To, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Confidence: interlock.Parsed, Via: name, Bytes: m.Bytes, Traits: []string{fact.TraitAgents}}
	if name == interlock.ToolMessageReceive {
		i.Kind, i.Target, i.Reversibility = interlock.ImpactRead, "a message of "+m.From, interlock.Readonly
	}
	s.Executes(interlock.KindTool, name)
	s.Add(i)
	return true
}
