package core

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
)

// Kept is a text as it may be stored: sealed where it holds a secret, and not at all where nobody can seal it.
func (a *Core) Kept(text []byte, secret bool) ([]byte, error) {
	if !secret {
		return text, nil
	}
	if a.Config.Record.Seal == nil {
		return nil, nil
	}
	sealed, err := a.Config.Record.Seal(text)
	if err != nil {
		return nil, fmt.Errorf("sealing what the decision was made from: %w", err)
	}
	return sealed, nil
}

// Revealed reports whether the analysis has put together, or read elsewhere, a secret that the action's own text does
// not show: that is looked at when the action is recorded.
func (a *Core) Revealed(inputs *auditlog.Inputs) bool {
	for _, t := range inputs.Texts {
		if !strings.Contains(inputs.Action.Input, t.Value) && a.Secretive([]byte(t.Value)) {
			return true
		}
	}
	for _, text := range inputs.Spoken {
		if a.Secretive([]byte(text)) {
			return true
		}
	}
	for name, to := range inputs.Moving.Links { // any order: one is enough
		if a.Secretive([]byte(name)) || a.Secretive([]byte(to)) {
			return true
		}
	}
	return false
}

// Secretive reports whether a text holds what may not be stored as it is.
func (a *Core) Secretive(text []byte) bool {
	_, kinds := a.Config.Redact(string(text))
	return len(kinds) > 0
}

func SameAction(a, b interlock.Action) bool {
	return a.Input == b.Input && a.Hint == b.Hint && bytes.Equal(a.Arguments, b.Arguments)
}

func SameTargets(a, b []interlock.Impact) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if a[n].Target != b[n].Target || a[n].Via != b[n].Via {
			return false
		}
	}
	return true
}

// ReadSealed records an operator's order to read inputs that are kept sealed. They are opened after it was carried
// out, and not before.
func (a *Core) ReadSealed(_ context.Context, c *PendingOrder) error {
	return a.Append(&c.Change, interlock.EventAccess, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.AccessRecord{Order: a.OrderKept(c.Order)})
}
