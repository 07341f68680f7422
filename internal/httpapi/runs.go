package httpapi

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"interlock"
	"interlock/internal/strictjson"
	"sync"
)

// Runs is what registering runs needs of admission. Whose a run is says the credential of who asks, and nothing else.
type Runs interface {
	RegisterRun(ctx context.Context, by interlock.Requester, q interlock.RunRequest) (interlock.Run, error)
	EndRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error)
	Turn(ctx context.Context, by interlock.Requester, id, conversation string) (turn int, err error)
	BindRun(ctx context.Context, by interlock.Requester, id, session string) error
	Heartbeat(ctx context.Context, by interlock.Requester) error
	Checkpoint(ctx context.Context, by interlock.Requester, run string, c interlock.RunCheckpoint) (interlock.RunKept, error)
	Resume(ctx context.Context, by interlock.Requester, run string) (interlock.RunKept, error)
	SubmitPlan(ctx context.Context, by interlock.Requester, q interlock.PlanRequest) (interlock.Plan, error)
}

// runIDs is the form of a registered run's id.
var runIDs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`run_[0-9a-f]{24}`)
})

// runPath finds the run that a path is about, and what is to be done with it.
func runPath(path string) (id string, r route) {
	rest, found := strings.CutPrefix(path, "/v1/runs/")
	id, tail, _ := strings.Cut(rest, "/")
	if !found || id == "" || runIDs().FindString(id) != id {
		return "", routeUnknown
	}
	switch tail {
	case "end":
		return id, routeRunEnd
	case "turns":
		return id, routeTurn
	case "session":
		return id, routeBind
	case "checkpoints":
		return id, routeKeep
	}
	return "", routeUnknown
}

// The bodies that the paths of runs take. On the local socket they may name who asks, as all others do.
type (
	runBody struct {
		interlock.RunRequest
		Requester *interlock.Requester `json:"requester"`
	}
	runEndBody struct {
		interlock.RunEnd
		Requester *interlock.Requester `json:"requester"`
	}
	turnBody struct {
		Conversation string               `json:"conversation"`
		Requester    *interlock.Requester `json:"requester"`
	}
	bindBody struct {
		Session   string               `json:"session"`
		Requester *interlock.Requester `json:"requester"`
	}
	checkpointBody struct {
		interlock.RunCheckpoint
		Requester *interlock.Requester `json:"requester"`
	}
	planBody struct {
		interlock.PlanRequest
		Requester *interlock.Requester `json:"requester"`
	}
	heartbeatBody struct {
		Requester *interlock.Requester `json:"requester"`
	}
)

// runs answers the paths of runs.
func (x *exchange) runs() {
	runs := x.server.config.Runs
	if runs == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "runs can't be registered here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	answer, err := x.answerRun(ctx, runs)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if err != nil {
		x.fail(err)
		return
	}
	text, err := strictjson.Marshal(answer)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}

func (x *exchange) answerRun(ctx context.Context, runs Runs) (any, error) {
	id, _ := runPath(x.r.URL.Path)
	switch x.route {
	case routeRuns:
		var body runBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		return runs.RegisterRun(ctx, by, body.RunRequest)
	case routeRunEnd:
		var body runEndBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		return runs.EndRun(ctx, by, id, body.RunEnd)
	case routePlans:
		var body planBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		return runs.SubmitPlan(ctx, by, body.PlanRequest)
	case routeTurn:
		var body turnBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		turn, err := runs.Turn(ctx, by, id, body.Conversation)
		return turnAnswer{Turn: turn}, err
	}
	if x.route == routeKeep {
		return x.answerCheckpoint(ctx, runs, id)
	}
	if x.route == routeBind {
		var body bindBody
		by, err := readRun(x, &body, &body.Requester)
		if err != nil {
			return nil, err
		}
		return boundAnswer{Bound: true}, runs.BindRun(ctx, by, id, body.Session)
	}
	var body heartbeatBody
	by, err := readRun(x, &body, &body.Requester)
	if err != nil {
		return nil, err
	}
	return heartbeatAnswer{Heard: true}, runs.Heartbeat(ctx, by)
}

// answerCheckpoint keeps a checkpoint of a run, or hands the newest one out.
func (x *exchange) answerCheckpoint(ctx context.Context, runs Runs, id string) (any, error) {
	if x.r.Method != http.MethodPost {
		claimed := interlock.Requester{}
		if x.door != network {
			claimed.Agent = x.r.URL.Query().Get("agent")
		}
		by, err := x.requester(claimed)
		if err != nil {
			return nil, &unreadError{err}
		}
		return runs.Resume(ctx, by, id)
	}
	var body checkpointBody
	by, err := readRun(x, &body, &body.Requester)
	if err != nil {
		return nil, err
	}
	return runs.Checkpoint(ctx, by, id, body.RunCheckpoint)
}

// An unreadError is why a body was not read. Admission has heard nothing of it, so the door leaves the event.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return e.err.Error() }

type (
	turnAnswer struct {
		Turn int `json:"turn"` // which one it is
	}
	boundAnswer struct {
		Bound bool `json:"bound"`
	}
	heartbeatAnswer struct {
		Heard bool `json:"heard"`
	}
)

// readRun reads a body strictly and says who asks: on the network the agent whose token it is.
func readRun[T any](x *exchange, body *T, named **interlock.Requester) (interlock.Requester, error) {
	by, err := func() (claimed interlock.Requester, err error) {
		buffer, err := x.read()
		if err != nil {
			return claimed, err
		}
		defer release(buffer)
		if err := strictjson.Decode(*buffer, body); err != nil {
			return claimed, err
		}
		if *named != nil {
			if x.door == network {
				return claimed, interlock.Errorf(interlock.CodeUnauthorized, "/requester", "is taken on the local socket only")
			}
			claimed = **named
		}
		return x.requester(claimed)
	}()
	if err != nil {
		return by, &unreadError{err}
	}
	return by, nil
}
