package storagetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/meter"
)

func challenge() *interlock.Challenge {
	return &interlock.Challenge{ID: "11111111-1111-4111-8111-111111111111", Kind: interlock.ChallengeBlock,
		Requester: interlock.Requester{Principal: "p", Agent: "agent", Run: "run"}, Action: "sha256:aa", Ruleset: "sha256:bb",
		Display: "rm -rf /", Rule: "fs.delete-root", Reason: "it would", Created: Now, CodeHash: "sha256:cc", Issued: Now,
		Expires: Now.Add(5 * time.Minute), Channels: []string{"console"}}
}

func ended() *interlock.Challenge {
	c := challenge()
	c.Ended, c.Outcome, c.By = Now, "lifted", "olga"
	return c
}

func grant(times int) *interlock.Grant {
	return &interlock.Grant{ID: "grt_1", Operator: "olga", Agent: "agent", Principal: "p", Ruleset: "sha256:bb",
		Kind: interlock.KindTool, Tool: "refund*",
		Conditions: []interlock.Condition{{Parameter: "amount", Operator: "<=", Value: []byte("100")}}, Times: times, Left: times,
		Created: Now, Expires: Now.Add(time.Hour), Method: interlock.MethodPasskey, Key: "k", Statement: "s", Signature: "sig"}
}

func failed(n int) *ledger.AttemptsBody {
	a := &ledger.AttemptsBody{Agent: "agent", Principal: "p", Attempts: meter.Attempts{Window: time.Minute}}
	for range n {
		a.Failed = append(a.Failed, Now)
	}
	return a
}

// challenges: one is there whole from its commit until it has ended, in every process and after a restart, and both move the
// version, so that what was decided without it is decided again.
func challenges(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	before := current(t, s).Version
	commit(t, s, with(Decision("a"), write(*challenge())))
	for _, store := range []Store{s, other, p.Open(t)} {
		if diff := cmp.Diff(map[string]interlock.Challenge{challenge().ID: *challenge()},
			current(t, store).Challenges); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	refused(t, other, with(Decision("a"), func(c *ledger.Change) { c.Version = before }), ledger.ErrConflict)
	before = current(t, s).Version
	commit(t, other, with(Decision("a"), write(*ended())))
	refused(t, s, with(Decision("a"), func(c *ledger.Change) { c.Version = before }), ledger.ErrConflict)
	if standing := current(t, s); len(standing.Challenges) != 0 {
		t.Errorf("after it has ended: %v", standing.Challenges)
	}
}

// grants: each draw counts down whole and at once; what is used up, revoked or expired can't be drawn.
func grants(t *testing.T, p Place) {
	s := p.Open(t)
	draw := with(Decision("a"), spend(ledger.Order, "grt_1"))
	refused(t, s, draw, ledger.ErrConflict)
	commit(t, s, with(Decision("a"), write(*grant(2))))
	commit(t, s, draw)
	want := grant(2)
	want.Left = 1
	for _, store := range []Store{s, p.Open(t)} {
		if diff := cmp.Diff(map[string]interlock.Grant{"grt_1": *want}, current(t, store).Grants); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	commit(t, s, draw)
	refused(t, s, draw, ledger.ErrConflict)
	late := grant(2)
	late.Expires = Now
	commit(t, s, with(Decision("a"), write(*late)))
	refused(t, s, draw, ledger.ErrConflict)
	revoked := grant(2)
	commit(t, s, with(Decision("a"), write(*revoked)))
	revoked.Ended = Now
	commit(t, s, with(Decision("a"), write(*revoked)))
	refused(t, s, draw, ledger.ErrConflict)
	if standing := current(t, s); len(standing.Grants) != 0 {
		t.Errorf("after it was revoked: %v", standing.Grants)
	}
}

// oneDraws: of many that draw the last of a grant at once, one does.
func oneDraws(t *testing.T, p Place) {
	s, other := p.Open(t), p.Open(t)
	commit(t, s, with(Decision("a"), write(*grant(1))))
	var drawn sync.Map
	var all sync.WaitGroup
	for i := range 16 {
		store := s
		if i%2 == 1 {
			store = other
		}
		all.Go(func() {
			if _, err := store.Commit(t.Context(),
				with(Decision("a"), spend(ledger.Order, "grt_1"))); err == nil {
				drawn.Store(i, true)
			}
		})
	}
	all.Wait()
	times := 0
	drawn.Range(func(any, any) bool { times++; return true })
	if times != 1 {
		t.Errorf("drawn %d times", times)
	}
}

// attempts: an agent's failed answers are kept as they were last written, and no longer than there are any.
func attempts(t *testing.T, p Place) {
	s := p.Open(t)
	commit(t, s, with(Decision("a"), write(*failed(1))))
	commit(t, s, with(Decision("a"), write(*failed(3))))
	for _, store := range []Store{s, p.Open(t)} {
		want := map[string]ledger.AttemptsBody{ledger.AttemptsKey("agent", "p"): *failed(3)}
		if diff := cmp.Diff(want, current(t, store).Attempts); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	commit(t, s, with(Decision("a"), write(*failed(0))))
	if standing := current(t, s); len(standing.Attempts) != 0 {
		t.Errorf("after they were cleared: %v", standing.Attempts)
	}
}
