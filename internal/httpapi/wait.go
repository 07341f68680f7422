package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/sse"
	"interlock/internal/strictjson"
)

// Waits is what waiting for the answer to a request needs of admission.
type Waits interface {
	// Asked is a request of this requester as it is now; one of another is not found.
	Asked(ctx context.Context, r interlock.Requester, id string) (interlock.ApprovalRequest, error)
	core.Watcher
}

// The bounds of waiting. They are measured in real time, because it is a connection that waits.
const (
	waitStandard = 25 * time.Second
	waitMost     = time.Minute
	streamMost   = time.Hour              // of a stream of events
	streamBeat   = 15 * time.Second       // in which a stream says that it is still there
	waitLook     = 250 * time.Millisecond // how late what another process wrote may be told
	waitSlack    = 5 * time.Second        // for writing the answer
)

// waitPath finds the request that a path waits for.
func waitPath(path string) (id string, waits bool) {
	rest, found := strings.CutPrefix(path, "/v1/requests/")
	id, tail, _ := strings.Cut(rest, "/")
	return id, found && tail == "wait" && requestIDs().FindString(id) == id && id != ""
}

// waitBody is what POST /v1/requests/{id}/wait takes; it may be left out.
type waitBody struct {
	Seconds   *int                 `json:"timeout_seconds"`
	Requester *interlock.Requester `json:"requester"`
}

// answeredBody is what has become of a request, for the side that asked. It answers nothing by itself: the identical action, sent
// again, does.
type answeredBody struct {
	Request string                  `json:"request"`
	Status  interlock.RequestStatus `json:"status"`
	Waiting bool                    `json:"waiting"` // nobody has answered yet: ask again
	State   string                  `json:"state"`   // the status in words
	Reason  string                  `json:"reason,omitempty"`
	Settled interlock.SettledBy     `json:"settled,omitempty"`
	Expires time.Time               `json:"expires"`
	Next    string                  `json:"next,omitempty"`
}

func answeredOf(r interlock.ApprovalRequest) answeredBody {
	out := answeredBody{Request: r.ID, Status: r.Status, Waiting: r.Status == interlock.RequestPending, State: r.State(),
		Expires: r.Expires.UTC()}
	if r.Approval != nil {
		out.Reason = r.Approval.Reason
	}
	if r.Settled != nil {
		out.Settled = r.Settled.How
	}
	switch r.Status {
	case interlock.RequestPending:
		out.Next = "wait again, or until webhooks of kind answered say so"
	case interlock.RequestApproved:
		out.Next = "send the identical action again before it expires; it passes once"
	case interlock.RequestDenied:
		out.Next = "do something else"
	case interlock.RequestExpired:
		out.Next = "send the action again to ask again"
	}
	return out
}

// wait answers POST /v1/requests/{id}/wait: with what has become of a request once it is answered, or with that it still waits once the
// time is over; as a stream of events where those are accepted. It is for the side that asked and changes nothing.
func (x *exchange) wait() {
	requester, within, err := x.readWait()
	if err == nil && x.server.config.Waits == nil {
		err = interlock.Errorf(interlock.CodeUnavailable, "", "nobody can wait here")
	}
	if err == nil {
		err = x.waitInstead()
	}
	if err != nil {
		x.fail(err)
		return
	}
	id, _ := waitPath(x.r.URL.Path)
	asked, err := x.server.config.Waits.Asked(x.r.Context(), requester, id)
	if err != nil {
		x.fail(err)
		return
	}
	streams := strings.Contains(x.r.Header.Get("Accept"), "text/event-stream")
	if streams {
		within = streamMost
	}
	control := http.NewResponseController(x.w)
	_ = control.SetReadDeadline(time.Time{}) // what can't be said here, the server's own time bounds
	ctx, cancel := x.waiting(asked, within)
	defer cancel()
	if streams {
		x.streamAnswer(ctx, control, requester, asked)
		return
	}
	_ = control.SetWriteDeadline(time.Now().Add(within + waitSlack))
	asked, err = x.untilAnswered(ctx, requester, id, func(interlock.ApprovalRequest) error { return nil })
	if x.r.Context().Err() != nil {
		x.status = http.StatusRequestTimeout // who asked has gone
		return
	}
	if err != nil {
		x.fail(err)
		return
	}
	body, err := json.Marshal(answeredOf(asked))
	if err != nil {
		x.fail(fmt.Errorf("encoding the answer: %w", err))
		return
	}
	x.answer(http.StatusOK, typeJSON, append(body, '\n'))
}

// readWait reads who waits and for how long.
func (x *exchange) readWait() (requester interlock.Requester, within time.Duration, err error) {
	var body waitBody
	if x.r.ContentLength != 0 {
		buffer, err := x.read()
		if err != nil {
			return requester, 0, err
		}
		defer release(buffer)
		if err := strictjson.Decode(*buffer, &body); err != nil {
			return requester, 0, err
		}
	}
	within = waitStandard
	if body.Seconds != nil {
		if within = time.Duration(*body.Seconds) * time.Second; *body.Seconds < 0 || within > waitMost {
			return requester, 0, interlock.Errorf(interlock.CodeInvalid, "/timeout_seconds", "is 0 to %d", int(waitMost.Seconds()))
		}
	}
	claimed := interlock.Requester{}
	if body.Requester != nil {
		if x.door == network {
			return requester, 0, interlock.Errorf(interlock.CodeUnauthorized, "/requester", "is taken on the local socket only")
		}
		claimed = *body.Requester
	}
	requester, err = x.requester(claimed)
	return requester, within, err
}

// waitInstead moves the request from those under way to those that wait: waiting takes no room from decisions.
func (x *exchange) waitInstead() error {
	if err := x.server.waiters.take(x.holder); err != nil {
		return err
	}
	x.room.give(x.holder)
	x.room = x.server.waiters
	return nil
}

// waiting bounds waiting by the time that was asked for, by that of the request, and by the server's end.
func (x *exchange) waiting(asked interlock.ApprovalRequest, within time.Duration) (context.Context, context.CancelFunc) {
	if left := asked.Expires.Sub(x.server.config.Now()) + waitLook; left > 0 {
		within = min(within, left)
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), within)
	stop := context.AfterFunc(x.server.serving, cancel)
	return ctx, func() { stop(); cancel() }
}

// errAnswered ends waiting.
var errAnswered = errors.New("it is answered")

// untilAnswered looks at a request until it waits no more or ctx ends, and returns it as it is then. each is told of it whenever
// it may have changed.
func (x *exchange) untilAnswered(ctx context.Context, requester interlock.Requester, id string,
	each func(interlock.ApprovalRequest) error) (asked interlock.ApprovalRequest, err error) {
	waits := x.server.config.Waits
	look := func(ctx context.Context) (err error) {
		if asked, err = waits.Asked(ctx, requester, id); err == nil {
			err = each(asked)
		}
		if err == nil && asked.Status != interlock.RequestPending {
			err = errAnswered
		}
		return err
	}
	err = core.Follow(ctx, waits, ledger.Watch{Kinds: []string{ledger.Request}, Within: waitLook}, look)
	if errors.Is(err, errAnswered) {
		return asked, nil
	}
	if err != nil && ctx.Err() == nil {
		return asked, err
	}
	last, cancel := x.decisionContext() // the time is over: once more, as it is now
	defer cancel()
	asked, err = waits.Asked(last, requester, id)
	return asked, err
}

// streamAnswer sends what becomes of a request as events: waiting at once, and answered at the end.
func (x *exchange) streamAnswer(ctx context.Context, control *http.ResponseController, requester interlock.Requester,
	asked interlock.ApprovalRequest) {
	header := x.w.Header()
	header["Content-Type"], header["Cache-Control"], header["X-Content-Type-Options"] = []string{"text/event-stream"}, noStore, noSniff
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	send := func(text []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(waitSlack))
		if _, err := x.w.Write(text); err != nil {
			return err
		}
		return control.Flush()
	}
	event := func(name string, r interlock.ApprovalRequest) error {
		body, err := json.Marshal(answeredOf(r))
		if err != nil {
			return err
		}
		return send(sse.Append(nil, "", name, body))
	}
	if asked.Status == interlock.RequestPending && event("waiting", asked) != nil {
		return
	}
	for ctx.Err() == nil && asked.Status == interlock.RequestPending {
		beat, cancel := context.WithTimeout(ctx, streamBeat)
		now, err := x.untilAnswered(beat, requester, asked.ID, func(interlock.ApprovalRequest) error { return nil })
		cancel()
		if err != nil || x.r.Context().Err() != nil {
			return // the reader or the store went away; a client that waits asks again
		}
		if asked = now; asked.Status == interlock.RequestPending && send([]byte(": still here\n\n")) != nil {
			return
		}
	}
	if asked.Status != interlock.RequestPending {
		_ = event("answered", asked)
	}
}
