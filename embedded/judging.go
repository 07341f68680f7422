package embedded

import (
	"context"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/ruleset"
	"interlock/internal/store"
)

// A judging is the judges of a backend, who are tested on a schedule for as long as it is open.
type judging struct {
	clients []*judge.Client
	budgets []admission.JudgeBudget
	every   time.Duration
	now     func() time.Time

	mu      sync.Mutex
	tested  func(judge.Trial)
	life    context.Context // of what goes on until the backend is closed; nil until anything does
	ends    context.CancelFunc
	running sync.WaitGroup
}

// judgesOf makes the judges of the settings. Under a profile that wants a judge's Allow nothing starts without one (ASA 20, item 1); a
// process that makes one decision says so in its answer.
func judgesOf(c config.Config, e *admission.Evaluator, options store.Options) (*judging, error) {
	j := &judging{every: time.Duration(c.Judge.Canary.Filled().Every), now: options.Now}
	profile, known := e.Rules.Profile(c.Profile)
	enforces := c.Mode == interlock.Enforcing || c.Mode == interlock.Monitoring
	if !c.Judge.IsSet() {
		if known && profile.Judge == ruleset.JudgeRequired && enforces && !options.Brief {
			return nil, interlock.Errorf(interlock.CodeInvalid, "judge",
				"is missing, and under the profile %s nothing passes without a judge; docs/judge.md says how to name one", c.Profile)
		}
		return j, nil
	}
	ground, _, err := GroundRules(c)
	if err != nil {
		return nil, err
	}
	j.clients, err = Judges(c, Judging{Ground: ground, Now: options.Now, Tested: j.hear})
	if err != nil {
		return nil, err
	}
	for _, b := range c.Judge.Budgets {
		most, currency, err := b.Amount()
		if err != nil {
			return nil, err
		}
		j.budgets = append(j.budgets, admission.JudgeBudget{ID: b.Name, Per: admission.JudgePer(b.Per), Most: most, Currency: currency,
			Window: time.Duration(b.Window)})
	}
	return j, nil
}

// judges are those who are asked, in the order of the settings.
func (j *judging) judges() (list []interlock.Judge) {
	for _, client := range j.clients {
		list = append(list, client)
	}
	return list
}

// recordTime bounds how long recording a test may take.
const recordTime = 5 * time.Second

// start has every test recorded, takes what other processes have found, and where the process lasts tests on the schedule.
func (j *judging) start(ctx context.Context, adm *admission.Admission, brief bool) error {
	if err := j.keepOwed(ctx, adm, brief); err != nil || len(j.clients) == 0 {
		return err
	}
	identities := map[string]interlock.JudgeIdentity{}
	for _, client := range j.clients {
		identities[client.Identity().Name] = client.Identity()
		at, proved, err := adm.JudgeProved(ctx, client.Identity())
		if err != nil {
			return err
		}
		if proved {
			client.ProvedAt(at)
		}
	}
	j.mu.Lock()
	j.tested = func(t judge.Trial) {
		ctx, cancel := context.WithTimeout(context.Background(), recordTime)
		defer cancel()
		// what can't be recorded leaves a judge tested in this process only, and the next decision says that the store fails
		_ = adm.JudgeTested(ctx, identities[t.Judge], t.Failure, t.Reason, t.At.Add(2*j.every))
	}
	j.mu.Unlock()
	if brief {
		return nil
	}
	keeping := j.lasting()
	for _, client := range j.clients {
		j.running.Go(func() { client.Keep(keeping) })
	}
	return nil
}

// keepOwed has what is owed a judgment asked about for as long as the backend is open. Where no judge is configured any more, what is
// owed is so still.
func (j *judging) keepOwed(ctx context.Context, adm *admission.Admission, brief bool) error {
	if brief {
		return nil
	}
	owes := len(j.clients) > 0
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

// hear takes what came of a test.
func (j *judging) hear(t judge.Trial) {
	j.mu.Lock()
	tested := j.tested
	j.mu.Unlock()
	if tested != nil {
		tested(t)
	}
}

// stop ends the schedule, and waits for what it is at.
func (j *judging) stop() {
	if j != nil && j.ends != nil {
		j.ends()
		j.running.Wait()
	}
}
