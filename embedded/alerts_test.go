package embedded

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/notice"
)

// A pager is a channel that takes everything, after a while.
type pager struct {
	takes time.Duration

	mu  sync.Mutex
	got []string
}

func (p *pager) Notify(ctx context.Context, n notice.Notice) notice.Delivery {
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return notice.Delivery{Failed: []string{"too late"}}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, fmt.Sprintf("%s %s %s: %s", n.Kind, n.Severity, n.Rule, n.Reason))
	return notice.Delivery{Channels: []string{"pager"}}
}

func (p *pager) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.got...)
}

// TestAlertsReachPeople: each kind is told at once, what follows within a minute is counted, whoever raises one waits for
// nobody, and what still waits at the end is sent if it can be in a moment.
func TestAlertsReachPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{takes: time.Second}
		a := newAlerts(p, time.Now)
		began := time.Now()
		for range 1000 {
			a.raise("approval-refused", "claude: no human has answered")
		}
		if time.Since(began) != 0 {
			t.Errorf("raising took %s", time.Since(began))
		}
		a.raise("verification-wrong", "there is no room for this one")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want := []string{"alert verify approval-refused: claude: no human has answered"}
		if diff := cmp.Diff(want, p.all()); diff != "" {
			t.Errorf("at once (-want +got):\n%s", diff)
		}
		a.raise("verification-wrong", "codex: the code is wrong")
		time.Sleep(time.Minute)
		a.raise("approval-refused", "claude: once more")
		a.close()
		a.close()
		a.raise("approval-refused", "nobody is there any more")
		got := p.all()
		if len(got) != 3 || got[1] != "alert verify verification-wrong: codex: the code is wrong" ||
			got[2] != fmt.Sprintf("alert verify approval-refused: claude: once more (and %d more of this kind since the last notice; the log has all of them)", maxAlerts) &&
				got[2] != fmt.Sprintf("alert verify approval-refused: claude: once more (and %d more of this kind since the last notice; the log has all of them)", maxAlerts-1) {
			t.Errorf("in the end: %q", got)
		}
	})
}

// TestAlertsDoNotKeepAProcess: a channel that hangs does not keep the process for longer than a moment.
func TestAlertsDoNotKeepAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlerts(&pager{takes: time.Hour}, time.Now)
		a.raise("one", "x")
		synctest.Wait()
		a.raise("two", "x")
		began := time.Now()
		a.close()
		if took := time.Since(began); took > alertFarewell {
			t.Errorf("it took %s to end", took)
		}
	})
}
