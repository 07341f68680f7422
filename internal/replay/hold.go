package replay

import (
	"errors"

	"interlock"
	"interlock/internal/ledger"
)

// ErrDamaged says that something is stored and is damaged, where it could be read.
var ErrDamaged = errors.New("what is stored is damaged")

// halted refuses to make a decision again while all replays are halted, or a hold is on it or on the ruleset that it was made under.
func (s *Sources) halted(r *Record) error {
	if s.Held == nil {
		return nil
	}
	for _, on := range []struct {
		scope ledger.HoldScope
		key   string
	}{{ledger.HoldReplays, ledger.HoldAll}, {ledger.HoldRuleset, r.Event.Snapshots["ruleset"]}, {ledger.HoldEvent, r.Event.ID}} {
		if s.Held(on.scope, on.key) {
			return halt(on.scope, on.key)
		}
	}
	return nil
}

func halt(scope ledger.HoldScope, key string) *Failure {
	name := ledger.HoldName(scope, key)
	if scope == ledger.HoldReplays {
		return failure(ForceHalt, "an emergency override has halted all replays by the hold %s, which the council clears: "+
			"interlock request create force_halt_clear --target %s", name, name)
	}
	return failure(ForceHalt, "the hold %s stands; the council clears it, or an admin where none sits, with interlock hold clear", name)
}

// broken says of a failure what is to be held because of it: what is another than it was, and snapshots that are not there. What one
// decision was made from may be missing for good reasons, and what could not be read just now is not known to be broken.
func broken(err error, scope ledger.HoldScope, key string) error {
	var f *Failure
	if !errors.As(err, &f) || f.On.Scope != "" || f.unsure ||
		f.Code != IntegrityFailure && (f.Code != MissingSnapshot || scope == ledger.HoldEvent) {
		return err
	}
	told := *f
	told.On = ledger.HoldBody{Scope: scope, Key: key, Cause: interlock.EventIntegrity, Why: told.Detail}
	return &told
}
