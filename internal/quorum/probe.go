package quorum

import (
	"interlock"
	"interlock/internal/strictjson"
)

// FoundAtLeast is the share of seeded errors that people find more than (EC-T1.7).
const FoundAtLeast = 0.8

// ProbeAction is what a probe asks about in place of an action: a digest that no action can have, so that no answer to it permits anything.
// Anyone who knows the request can tell by it that it is one; nothing else about it looks different.
func ProbeAction(id, nonce string) interlock.Digest {
	return strictjson.DigestBytes("interlock/probe/v1", []byte(id+"\x00"+nonce))
}

// IsProbe reports whether a request holds an error that was seeded on purpose.
func IsProbe(r interlock.ApprovalRequest) bool {
	return r.ID != "" && r.Nonce != "" && r.Action == ProbeAction(r.ID, r.Nonce)
}

// Probed is how people answered probes.
type Probed struct {
	Seeded   int      `json:"seeded"`
	Answered int      `json:"answered"`
	Found    int      `json:"found"`       // denied
	Missed   int      `json:"missed"`      // approved
	Expired  int      `json:"unanswered"`  // or still waiting
	Share    float64  `json:"found_share"` // of those that were answered
	Passed   bool     `json:"passed"`      // more than [FoundAtLeast] of them
	Misses   []string `json:"missed_ids,omitempty"`
}

// ProbedOf counts the answers to probes.
func ProbedOf(seeded int, answers []interlock.ApprovalRequest) Probed {
	p := Probed{Seeded: seeded}
	for _, r := range answers {
		if r.Approval == nil || !IsProbe(r) {
			continue
		}
		p.Answered++
		if r.Approval.Verdict == interlock.Allow {
			p.Missed++
			p.Misses = append(p.Misses, r.ID)
			continue
		}
		p.Found++
	}
	p.Expired = max(p.Seeded-p.Answered, 0)
	if p.Answered > 0 {
		p.Share = float64(p.Found) / float64(p.Answered)
	}
	p.Passed = p.Share > FoundAtLeast
	return p
}
