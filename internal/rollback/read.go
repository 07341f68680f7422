package rollback

import (
	"errors"
	"regexp"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/ruleset"
	"sync"
)

var eventForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{64}$`)
})

// Check refuses what names nothing that could be rolled back.
func Check(seed dataflow.Seed) error {
	switch {
	case seed.Event == "" && seed.Agent == "":
		return interlock.Errorf(interlock.CodeInvalid, "--agent", "say what is rolled back: --agent NAME --since TIME, or --event ID")
	case seed.Event != "" && (seed.Agent != "" || !seed.Since.IsZero()):
		return interlock.Errorf(interlock.CodeInvalid, "--event", "an event is one action; leave out --agent and --since")
	case seed.Event != "" && !eventForm().MatchString(seed.Event):
		return interlock.Errorf(interlock.CodeInvalid, "--event", "is no event id: 64 hexadecimal digits, as `interlock audit list` shows them")
	case seed.Event == "" && seed.Since.IsZero():
		return interlock.Errorf(interlock.CodeInvalid, "--since", "say from when on the agent is not to be trusted")
	case len(seed.Agent) > 256:
		return interlock.Errorf(interlock.CodeInvalid, "--agent", "is no agent's name")
	}
	return nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// Read works out the plan from a log, reading so many of its entries; 0 is all there are.
func Read(walk func(func(interlock.Entry) error) error, size int64, seed dataflow.Seed, rules *ruleset.Ruleset) (Plan, error) {
	if err := Check(seed); err != nil {
		return Plan{}, err
	}
	var log dataflow.Log
	err := walk(func(e interlock.Entry) error {
		if size > 0 && e.Index >= size {
			return errEnough
		}
		return log.Add(e)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return Plan{}, err
	}
	if seed.Event != "" {
		if _, known := log.Find(seed.Event); !known {
			return Plan{}, interlock.Errorf(interlock.CodeNotFound, "--event", "no event of this id holds a decision")
		}
	}
	return Make(&log, seed, rules), nil
}
