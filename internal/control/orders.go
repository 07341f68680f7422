package control

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// Orders carries out what people have signed, and knows what they have asked for.
type Orders interface {
	CarryOut(ctx context.Context, given quorum.Given, only ...interlock.Verb) (core.Carried, error)
	Action(ctx context.Context, id string) (interlock.ActionRequest, quorum.Count, error)
}

// Log finds an event by its id.
type Log interface {
	Entry(ctx context.Context, id string) (interlock.Entry, bool, error)
}

// orderHeader holds an admin's or auditor's signed order to read an event whole: its JSON in base64.
const orderHeader = "Interlock-Order"

// maxOrder bounds a signed order: a passkey's proof and what it says.
const maxOrder = 32 << 10

// A Path is one on which people govern by what they have signed (MACE safety boundaries 12, governance).
type Path struct {
	Path  string
	about func(quorum.Class) bool // of which classes what is asked for there may be; nil: the path names the request
	verbs []interlock.Verb
}

// Says is what the path takes.
func (p Path) Says() string {
	if p.about == nil {
		return "Hand in a signed vote on the request that the path names."
	}
	if slices.Contains(p.verbs, interlock.VerbDataRequest) {
		return "Hand in a signed order by which a person asks for what is kept of them, or that it be deleted."
	}
	var kinds []string
	for _, c := range quorum.Classes() {
		if p.about(c) {
			kinds = append(kinds, c.Type)
		}
	}
	says := "Hand in a signed order that asks for " + strings.Join(kinds, " or ")
	if slices.Contains(p.verbs, interlock.VerbExecute) {
		says += ", or that carries it out once it is approved"
	}
	return says + "."
}

// Paths lists them.
func Paths() []Path {
	is := func(kinds ...string) func(quorum.Class) bool {
		return func(c quorum.Class) bool { return slices.Contains(kinds, c.Type) }
	}
	both := []interlock.Verb{interlock.VerbRequest, interlock.VerbExecute}
	return []Path{
		{"/safety/override", is(quorum.ActOverride), both},
		{"/governance/policy/propose", is(quorum.ActPolicy), both[:1]},
		{"/module/register", is(quorum.ActRegister), both},
		{"/module/quarantine", is(quorum.ActQuarantine, quorum.ActQuarantineNow), both},
		{"/superadmin/override", func(c quorum.Class) bool { return c.Class == 4 }, both[:1]},
		{"/dsr/request", func(quorum.Class) bool { return true }, []interlock.Verb{interlock.VerbDataRequest}}, // of whatever person
		{"/actionrequest/{id}/vote", nil, []interlock.Verb{interlock.VerbVote}},
		{"/actionrequest/{id}/approve", nil, []interlock.Verb{interlock.VerbVote}},
	}
}

// govern serves them. What people send there is an order as `interlock request ... --signed` prints it. The credential of the door lets
// nobody govern: the signature does.
func (d *door) govern(mux *http.ServeMux) {
	for _, p := range Paths() {
		if d.Orders != nil {
			mux.HandleFunc("POST "+p.Path, d.order(p))
		}
	}
	if d.Log != nil {
		for _, path := range []string{"/safety/events/", "/governance/events/", "/audit/event/"} {
			mux.HandleFunc("GET "+path+"{id}", d.event)
		}
	}
}

// asJSON serves the paths of the door, and answers in JSON as well where there is none.
func asJSON(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuses, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		said := &statusOnly{header: w.Header()}
		refuses.ServeHTTP(said, r)
		if said.status == http.StatusMethodNotAllowed {
			fail(w, said.status, interlock.Errorf(interlock.CodeInvalid, "", "this path takes %s", w.Header().Get("Allow")))
			return
		}
		fail(w, http.StatusNotFound, interlock.Errorf(interlock.CodeNotFound, "", "no such path; docs/kill.md and docs/council.md list them"))
	})
}

// statusOnly is an answer of which only the status and the header are of use.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }

// An Ordered is what came of an order about a request.
type Ordered struct {
	Request string                 `json:"request_id,omitempty"`
	Status  interlock.ActionStatus `json:"status,omitempty"`
	Why     string                 `json:"why,omitempty"`
	Events  []string               `json:"event_ids"`
	Texts   map[string]string      `json:"texts,omitempty"` // what is kept of a person who asks for it, opened, by id
}

// order carries out an order about a request.
func (d *door) order(p Path) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
		defer cancel()
		var o interlock.Order
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
		if err != nil {
			fail(w, http.StatusRequestEntityTooLarge, interlock.Errorf(interlock.CodeLimited, "", "the order is longer than %d bytes", maxOrder))
			return
		}
		if err = strictjson.Decode(body, &o); err == nil {
			err = d.concerns(ctx, r, o, p)
		}
		if err != nil {
			d.refused(ctx, w, err)
			return
		}
		done, err := d.Orders.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), p.verbs...)
		if err != nil {
			d.refused(ctx, w, err)
			return
		}
		said := Ordered{done.Request.ID, done.Request.Status, done.Request.Why, done.Events, done.Opened}
		if done.Question.ID != "" {
			said.Request, said.Status = done.Question.ID, interlock.ActionStatus(done.Question.Status)
		}
		status := http.StatusOK
		if said.Status == interlock.ActionFailed || said.Status == interlock.ActionInvalidated {
			status = http.StatusConflict
		}
		answer(w, status, said)
	}
}

// observes refuses an observer, who tells what it sees and reads nothing.
func observes(r *http.Request) error {
	if observer, _ := r.Context().Value(whose{}).(string); observer != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "an observer tells what it sees; this takes the door's own token")
	}
	return nil
}

// concerns refuses an order about something else than its path.
func (d *door) concerns(ctx context.Context, r *http.Request, o interlock.Order, p Path) error {
	if err := observes(r); err != nil {
		return err
	}
	kind := o.Subject
	switch {
	case p.about == nil && o.Subject != r.PathValue("id"):
		return interlock.Errorf(interlock.CodeInvalid, "/subject", "is another request than the path names")
	case p.about == nil:
		v, err := quorum.VoteOf(o)
		if strings.HasSuffix(p.Path, "/approve") && (err != nil || v.Vote != quorum.VoteApprove) {
			return interlock.Errorf(interlock.CodeInvalid, "/detail", "is no vote to approve; any vote goes to the path that ends in vote")
		}
		return nil
	case o.Verb == interlock.VerbExecute:
		asked, _, err := d.Orders.Action(ctx, o.Subject)
		if err != nil {
			return err
		}
		kind = asked.Action.Type
	}
	if !p.about(quorum.ClassOf(kind)) {
		return interlock.Errorf(interlock.CodeInvalid, "/subject", "%.40q is not asked for on this path", kind)
	}
	return nil
}

// event answers an event: to the holder of the door's credential without what an agent wanted or people wrote, and whole on the signed
// order of an admin or auditor, which is recorded as admin_access_event before anything is read.
func (d *door) event(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := observes(r); err != nil {
		d.refused(ctx, w, err)
		return
	}
	entry, found, err := d.Log.Entry(ctx, r.PathValue("id"))
	switch {
	case err == nil && !found:
		err = interlock.Errorf(interlock.CodeNotFound, "", "the log has no such entry")
	case err == nil && auditlog.Released(&entry):
		err = interlock.Errorf(interlock.CodeExpired, "", "what this entry says is in an archive")
	}
	text := entry.Body
	if signed := r.Header.Get(orderHeader); err == nil && signed != "" {
		err = d.whole(ctx, signed, entry.ID)
	} else if err == nil {
		text, err = auditlog.Redacted(entry.Body)
	}
	if err != nil {
		d.refused(ctx, w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(slices.Clone(text), '\n')) // byte for byte, so that what is read whole can be held against its hash
}

// whole carries out the order to read an event whole.
func (d *door) whole(ctx context.Context, signed, id string) error {
	var o interlock.Order
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(signed))
	if err == nil {
		err = strictjson.Decode(text, &o)
	}
	switch {
	case err != nil || d.Orders == nil:
		return interlock.Errorf(interlock.CodeInvalid, orderHeader, "is no signed order in base64")
	case o.Subject != ReadEvent(id):
		return interlock.Errorf(interlock.CodeInvalid, orderHeader, "is about something else than this event")
	}
	_, err = d.Orders.CarryOut(ctx, quorum.OfOrder(o, interlock.Requester{}), interlock.VerbReadSealed)
	return err
}

// ReadEvent is the subject of an order to read an event whole.
func ReadEvent(id string) string { return "event:" + id }

// refused answers with an error, by what kind of no it is.
func (d *door) refused(ctx context.Context, w http.ResponseWriter, err error) {
	status := map[interlock.Code]int{interlock.CodeInvalid: http.StatusBadRequest, interlock.CodeUnauthorized: http.StatusForbidden,
		interlock.CodeNotFound: http.StatusNotFound, interlock.CodeConflict: http.StatusConflict, interlock.CodeExpired: http.StatusGone,
		interlock.CodeLimited: http.StatusTooManyRequests}
	var known *interlock.Error
	if errors.As(err, &known) && status[known.Code] != 0 {
		fail(w, status[known.Code], err)
		return
	}
	d.Logger.ErrorContext(ctx, "an order or an event", "error", err.Error())
	fail(w, http.StatusServiceUnavailable, err)
}
