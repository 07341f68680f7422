package judging

import (
	"hash/maphash"
	"reflect"
	"slices"
	"sync/atomic"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/strictjson"
)

// The question about an action is a function of the action, its impacts and the settings, and one decision needs it three times: to find
// what was said before, to find that nobody was heard, and to hold what was said against what the decision is about. So the process keeps
// those that it made lately. What judges said is not kept here: that is in the ledger, and is believed by its proof there.

// The bounds of what is kept: what is longer is made again each time.
const (
	keptInquiries = 1024
	keptPayload   = 4 << 10 // bytes
	keptImpacts   = 16
)

// inquiries are questions that were made lately, each in one place, where the next that belongs there takes it over.
type inquiries struct {
	seed  maphash.Seed
	kept  [keptInquiries]atomic.Pointer[madeInquiry]
	Asked func(made bool) // for tests: hears of each question whether it had to be made
}

// A madeInquiry is a question with everything that it was made from.
type madeInquiry struct {
	action    interlock.Digest
	impacts   []interlock.Impact
	bare      bool
	objective string
	tier      int
	judges    []interlock.JudgeIdentity // as they were: an admin may order other ground rules while they are asked
	inquiry   *Inquiry                  // nobody changes it
}

func newInquiries() *inquiries { return &inquiries{seed: maphash.MakeSeed()} }

// About returns the question about an action, which nobody may change: as it was made before where all that it is made from is
// the same.
func (k *inquiries) About(a *Judging, action interlock.Action, analysis impact.Analysis, bare bool, objective string,
	tier int) (*Inquiry, error) {
	digest, err := strictjson.ActionDigest(action)
	if err != nil {
		return nil, err
	}
	at := &k.kept[maphash.String(k.seed, string(digest))%keptInquiries]
	have := at.Load()
	same := have != nil && have.action == digest && have.bare == bare && have.tier == tier && have.objective == objective &&
		reflect.DeepEqual(have.impacts, analysis.Impacts) && slices.EqualFunc(a.Config.Judges, have.judges, isStill)
	if k.Asked != nil {
		k.Asked(!same)
	}
	if same {
		return have.inquiry, nil
	}
	var judges []interlock.JudgeIdentity // as they are before the question is made under them
	for _, judge := range a.Config.Judges {
		judges = append(judges, judge.Identity())
	}
	q, err := a.inquiry(action, digest, analysis.Impacts, bare, objective, tier)
	if err == nil && len(q.Asks) == 1 && len(q.Asks[0].Payload) <= keptPayload && len(analysis.Impacts) <= keptImpacts {
		at.Store(&madeInquiry{digest, analysis.Impacts, bare, objective, tier, judges, q})
	}
	return q, err
}

// isStill reports whether a judge is who it was.
func isStill(judge interlock.Judge, was interlock.JudgeIdentity) bool { return judge.Identity() == was }

// aboutAction is the digest of a question about an action, see [inquiry.digest].
func (q *Inquiry) aboutAction(action interlock.Digest, impacts []interlock.Impact) (interlock.Digest, error) {
	return q.Digest(&struct {
		Action  interlock.Digest   `json:"action"`
		Impacts []interlock.Impact `json:"impacts"`
	}{action, impacts})
}
