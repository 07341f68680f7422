package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"interlock"
	"interlock/internal/replay"
)

// A Past answers questions about what other rules would have decided, and do decide in the shadow.
type Past struct {
	WhatIf func(ctx context.Context, q replay.Question) (replay.Report, error)
	Shadow func(ctx context.Context) (replay.ShadowState, error)
}

// mayLookBack lets through a caller on the local socket, who can read the store itself: what the past says of all agents is no
// business of one.
func (x *exchange) mayLookBack() error {
	switch {
	case x.door != local || x.token:
		return interlock.Errorf(interlock.CodeUnauthorized, "", "what rules did about all agents is told on the local socket only")
	case x.server.config.Past.WhatIf == nil || x.server.config.Past.Shadow == nil:
		return interlock.Errorf(interlock.CodeUnavailable, "", "the past can't be asked here")
	}
	return nil
}

// whatIf answers GET /v1/whatif: what the rules in force, one of them, or those in the shadow would have done about the past.
func (x *exchange) whatIf() {
	given, err := query(x.r.URL.RawQuery, "rule", "rules", "agent", "since")
	if err == nil {
		err = x.mayLookBack()
	}
	var q replay.Question
	if err == nil {
		q, err = question(given, x.server.config.Now())
	}
	if err != nil {
		x.fail(err)
		return
	}
	report, err := x.server.config.Past.WhatIf(x.r.Context(), q)
	x.tell(report, err)
}

// question reads what is asked. Without a time it is the last week.
func question(given map[string]string, now time.Time) (replay.Question, error) {
	q := replay.Question{Rule: given["rule"], Agent: given["agent"], Since: now.Add(-7 * 24 * time.Hour)}
	for name, text := range given { // any order: one is told
		if len(text) > maxName {
			return q, tooLong(name, maxName)
		}
	}
	switch given["rules"] {
	case "", "in-force":
	case "shadow":
		q.Candidate = true
	default:
		return q, interlock.Errorf(interlock.CodeInvalid, "rules", "name in-force or shadow")
	}
	if text, ok := given["since"]; ok {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return q, interlock.Errorf(interlock.CodeInvalid, "since", "write a time as 2006-01-02T15:04:05Z")
		}
		q.Since = at
	}
	return q, nil
}

// shadow answers GET /v1/shadow: which ruleset decides beside the one in force, and where they have parted.
func (x *exchange) shadow() {
	_, err := query(x.r.URL.RawQuery)
	if err == nil {
		err = x.mayLookBack()
	}
	if err != nil {
		x.fail(err)
		return
	}
	state, err := x.server.config.Past.Shadow(x.r.Context())
	x.tell(state, err)
}

// tell answers with a value.
func (x *exchange) tell(value any, err error) {
	var data []byte
	if err == nil {
		if data, err = json.Marshal(value); err != nil {
			err = fmt.Errorf("encoding the answer: %w", err)
		}
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, data)
}
