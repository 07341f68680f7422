package embedded

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

// A judging is the judges of a backend, who are tested on a schedule for as long as it is open.
type judging struct {
	settings config.Config
	held     []*heldJudge
	budgets  []core.JudgeBudget
	every    time.Duration
	now      func() time.Time
	orders   groundOrders
	ground   Ground // that the judges began with
	seen     string // id of the newest event about ground rules that was looked at

	mu      sync.Mutex
	tested  func(interlock.JudgeIdentity, judge.Trial)
	life    context.Context // of what goes on until the backend is closed; nil until anything does
	ends    context.CancelFunc
	running sync.WaitGroup
}

// A heldJudge is a judge of the settings, whose ground rules an admin may order to be others while it is asked. What it answers to a
// question that began under those of before counts for nothing: a question names its ground rules.
type heldJudge struct{ client atomic.Pointer[judge.Client] }

// Identity is that of the judge as it is now.
func (h *heldJudge) Identity() interlock.JudgeIdentity { return h.client.Load().Identity() }

// Ask asks the judge as it is now.
func (h *heldJudge) Ask(ctx context.Context, q interlock.JudgeQuestion) interlock.Judgment {
	return h.client.Load().Ask(ctx, q)
}

// Price is the most that asking it can cost.
func (h *heldJudge) Price(q interlock.JudgeQuestion) (most int64, currency string) {
	return h.client.Load().Price(q)
}

// judgesOf makes the judges of the settings. Under a profile that wants a judge's Allow nothing starts without one (ASA 20, item 1); a
// process that makes one decision says so in its answer.
func judgesOf(ctx context.Context, c config.Config, e *admission.Evaluator, options store.Options,
	orders groundOrders) (*judging, error) {
	j := &judging{settings: c, every: time.Duration(c.Judge.Canary.Filled().Every), now: options.Now, orders: orders}
	profile, known := e.Rules.Profile(c.Profile)
	enforces := c.Mode == interlock.Enforcing || c.Mode == interlock.Monitoring
	if !c.Judge.IsSet() {
		if known && profile.Judge == ruleset.JudgeRequired && enforces && !options.Brief {
			return nil, interlock.Errorf(interlock.CodeInvalid, "judge",
				"is missing, and under the profile %s nothing passes without a judge; docs/judge.md says how to name one", c.Profile)
		}
		return j, nil
	}
	var err error
	if j.ground, err = orders.inForce(ctx); err != nil {
		return nil, err
	}
	clients, err := j.clients(j.ground)
	if err != nil {
		return nil, err
	}
	for _, client := range clients {
		one := &heldJudge{}
		one.client.Store(client)
		j.held = append(j.held, one)
	}
	for _, b := range c.Judge.Budgets {
		most, currency, err := b.Amount()
		if err != nil {
			return nil, err
		}
		j.budgets = append(j.budgets, core.JudgeBudget{ID: b.Name, Per: core.JudgePer(b.Per), Most: most, Currency: currency,
			Window: time.Duration(b.Window)})
	}
	return j, nil
}

// clients are the judges of the settings under ground rules.
func (j *judging) clients(ground Ground) ([]*judge.Client, error) {
	identities := map[string]interlock.JudgeIdentity{} // filled before anybody is tested
	clients, err := Judges(j.settings, Judging{Ground: ground.Rules, Now: j.now, Tested: func(t judge.Trial) { j.hear(identities[t.Judge], t) }})
	for _, client := range clients {
		identities[client.Identity().Name] = client.Identity()
	}
	return clients, err
}

// judges are those who are asked, in the order of the settings.
func (j *judging) judges() (list []interlock.Judge) {
	for _, one := range j.held {
		list = append(list, one)
	}
	return list
}

// recordTime bounds how long recording a test may take.
const recordTime = 5 * time.Second

// start has every test recorded, takes what other processes have found, and where the process lasts tests on the schedule and looks
// whether an admin has ordered other ground rules.
func (j *judging) start(ctx context.Context, adm *admission.Admission, brief bool) error {
	if err := j.keepOwed(ctx, adm, brief); err != nil || len(j.held) == 0 {
		return err
	}
	for _, one := range j.held {
		at, proved, err := adm.JudgeProved(ctx, one.Identity())
		if err != nil {
			return err
		}
		if proved {
			one.client.Load().ProvedAt(at)
		}
	}
	j.mu.Lock()
	j.tested = func(of interlock.JudgeIdentity, t judge.Trial) {
		ctx, cancel := context.WithTimeout(context.Background(), recordTime)
		defer cancel()
		// what can't be recorded leaves a judge tested in this process only, and the next decision says that the store fails
		_ = adm.JudgeTested(ctx, of, t.Failure, t.Reason, t.At.Add(2*j.every))
	}
	j.mu.Unlock()
	if brief {
		return nil
	}
	if j.ground.Last != j.ground.Rules.Digest() {
		if err := adm.GroundBegun(ctx, j.ground.Last, j.ground.Text, j.ground.Order); err != nil {
			return err
		}
	}
	keeping := j.lasting()
	j.running.Go(func() { j.keep(keeping, adm) })
	return nil
}

// keepOwed has what is owed a judgment asked about for as long as the backend is open. Where no judge is configured any more, what is
// owed is so still.
func (j *judging) keepOwed(ctx context.Context, adm *admission.Admission, brief bool) error {
	if brief {
		return nil
	}
	owes := len(j.held) > 0
	if !owes {
		var err error
		if owes, err = adm.OwesJudgments(ctx); err != nil || !owes {
			return err
		}
	}
	keeping := j.lasting()
	j.running.Go(func() { adm.KeepOwed(keeping) })
	return nil
}

// lasting is a context that ends with the backend.
func (j *judging) lasting() context.Context {
	if j.life == nil {
		j.life, j.ends = context.WithCancel(context.Background())
	}
	return j.life
}

// lookForGround is how often it is looked for an order about ground rules, which is given in another process: until then a judge goes on
// under those of before.
const lookForGround = time.Second

// keep tests judges on their schedule, and puts others in their place where an admin orders other ground rules. They are tested
// again then before they count, and nothing that was remembered does: both are bound to the ground rules.
func (j *judging) keep(ctx context.Context, adm *admission.Admission) {
	ticker := time.NewTicker(lookForGround)
	defer ticker.Stop()
	end := j.test(ctx)
	defer func() { end() }()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		changed, err := j.adopt(ctx)
		switch {
		case err != nil && ctx.Err() == nil && err.Error() != said: // those of before stay, and people are told once
			said = err.Error()
			_ = adm.Alarm(ctx, "ground-rules-unread", "ground rules were ordered and can't be used, so those of before stay in force: "+said)
		case changed:
			end()
			end = j.test(ctx)
		}
	}
}

// adopt has the judges hold actions against what an admin ordered last, where that is other than what they do. What the file holds now is
// no order.
func (j *judging) adopt(ctx context.Context) (changed bool, err error) {
	newest, err := j.orders.newest(ctx)
	if err != nil || newest == j.seen {
		return false, err
	}
	now, err := j.orders.inForce(ctx)
	if err == nil {
		j.seen = newest
	}
	if err != nil || now.Order == "" || now.Rules.Digest() == j.held[0].Identity().GroundRules {
		return false, err
	}
	clients, err := j.clients(now)
	if err != nil {
		return false, err
	}
	for n, client := range clients {
		j.held[n].client.Store(client)
	}
	return true, nil
}

// test tests the judges as they are now, on their schedule, until it is ended.
func (j *judging) test(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var testing sync.WaitGroup
	for _, one := range j.held {
		client := one.client.Load()
		testing.Go(func() { client.Keep(ctx) })
	}
	return func() {
		cancel()
		testing.Wait()
	}
}

// hear takes what came of a test.
func (j *judging) hear(of interlock.JudgeIdentity, t judge.Trial) {
	j.mu.Lock()
	tested := j.tested
	j.mu.Unlock()
	if tested != nil {
		tested(of, t)
	}
}

// stop ends the schedule, and waits for what it is at.
func (j *judging) stop() {
	if j != nil && j.ends != nil {
		j.ends()
		j.running.Wait()
	}
}
