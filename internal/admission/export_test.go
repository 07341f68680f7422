package admission

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Endings is how many actions have ended whose outcomes are not recorded.
func Endings(a *Admission) int {
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	return a.endings.some.Len()
}

// Looked is how many endings a decision about what a requester wants has to look at, where the ledger knows nothing.
func Looked(a *Admission, r interlock.Requester) (ledger.FailedBody, int) {
	return a.endings.with(ledger.FailedBody{}, r)
}

// FindCall finds how a call was decided.
func FindCall(a *Admission, r interlock.Requester, action interlock.Digest) (ledger.CallBody, bool, error) {
	return a.FindCall(context.Background(), r, action)
}

// SeeCall remembers that another event has seen a call.
func SeeCall(a *Admission, eventID, event string) error {
	return a.SeeCall(context.Background(), eventID, event)
}

// Holders is of how many agents such actions are kept.
func Holders(a *Admission) int {
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	return len(a.endings.by)
}

// HearQuestions has a function hear of every question about an action, and whether it had to be made.
func HearQuestions(a *Admission, hear func(made bool)) { a.Inquiries.Asked = hear }

// QuestionKeys are the digest of a question about an action, and what the general encoder makes of it.
func QuestionKeys(a *Admission, action interlock.Action, impacts []interlock.Impact, bare bool, objective string,
	tier int) (key, general interlock.Digest, err error) {
	q, err := a.Inquiries.About(a.Judging, action, impact.Analysis{Impacts: impacts}, bare, objective, tier)
	if err != nil {
		return "", "", err
	}
	digest, err := strictjson.ActionDigest(action)
	if err != nil {
		return "", "", err
	}
	general, err = q.Digest(struct {
		Action  interlock.Digest   `json:"action"`
		Impacts []interlock.Impact `json:"impacts"`
	}{digest, impacts})
	return q.Key, general, err
}

// ShuffleLooks has looks stand in another order until restore is called: those that come late after all others, as ever.
func ShuffleLooks(seed uint64) (restore func()) {
	was := looks
	looks = slices.Clone(looks)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(looks), func(i, j int) { looks[i], looks[j] = looks[j], looks[i] })
	return func() { looks = was }
}

// A Look is what is known of a row of looks from outside: its gates, and where its functions stand, which may be in one file
// only.
type Look struct{ Gates, Files []string }

// Looks are all rows.
func Looks() (list []Look) {
	for n := range looks {
		l := Look{Gates: looks[n].gates}
		for _, of := range []any{looks[n].before, looks[n].after, looks[n].finds, looks[n].writes} {
			if at := reflect.ValueOf(of).Pointer(); at != 0 {
				file, _ := runtime.FuncForPC(at).FileLine(at)
				l.Files = append(l.Files, filepath.Base(file))
			}
		}
		slices.Sort(l.Files)
		l.Files = slices.Compact(l.Files)
		list = append(list, l)
	}
	return list
}
