// Package control is the door for what watches agents from outside, such as a fraud desk, a monitoring system or a big red button:
// it stops everything. It has a listener and a credential of its own, so that it answers while the doors of agents are busy, and
// no agent has what opens it. By that credential things only ever tighten; whatever lets things go on is a person's signed order, which
// may come in here as well.
//
// Open control.go.
package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/hostname"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// TokenPrefix is what the credential begins with, so that it is told from an agent's.
const TokenPrefix = "ilkctl_"

// NewToken makes a credential.
func NewToken(random io.Reader) (string, error) {
	secret := make([]byte, 32)
	if _, err := io.ReadFull(random, secret); err != nil {
		return "", err
	}
	return TokenPrefix + hex.EncodeToString(secret), nil
}

// Backend is what the door does.
type Backend interface {
	Kill(ctx context.Context, mode ledger.KillMode, why, by string) (ledger.HoldBody, error)
	ProposeKill(ctx context.Context, observer, why string) (ledger.HoldBody, error)
	Killed(ctx context.Context) (h ledger.HoldBody, any bool, err error)
	Signal(ctx context.Context, observer string, s interlock.Signal) (containment.SignalAnswer, error)
}

// Observers finds the observer that a token belongs to.
type Observers interface {
	Observer(ctx context.Context, token string) (interlock.AgentRecord, error)
}

// Config configures the door. Every field is required but Orders, Log, Names, Watch and Looked.
type Config struct {
	Backend Backend
	Token   string         // the credential that stops everything
	Orders  Orders         // what people have signed is carried out by
	Log     Log            // which events are read of
	Watch   Observers      // whose tokens tell what they see
	Names   hostname.Names // under which it answers, beside those of the loopback interface
	// optional: records a look before it is answered
	Looked func(ctx context.Context, by interlock.Requester, what string) error
	Logger *slog.Logger
	Now    func() time.Time
}

const (
	maxBody = 4 << 10
	// what may be under way at once: the holder of the credential needs few
	maxConcurrent = 16
	patience      = 10 * time.Second
)

// Serve answers on a listener until ctx ends.
func Serve(ctx context.Context, listener net.Listener, c Config) error {
	server := &http.Server{Handler: Handler(c), ReadTimeout: patience, WriteTimeout: patience,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(c.Logger.Handler(), slog.LevelWarn)}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-ctx.Done():
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			_ = server.Shutdown(stop) // it ends with the process at the latest
		case <-done:
		}
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler serves the door's paths.
func Handler(c Config) http.Handler {
	d := &door{Config: c, room: make(chan struct{}, maxConcurrent), hash: sha256.Sum256([]byte(c.Token))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kill", d.kill)
	mux.HandleFunc("GET /v1/kill", d.state)
	mux.HandleFunc("POST /v1/signals", d.signal)
	d.govern(mux)
	return d.only(asJSON(mux))
}

type door struct {
	Config
	room  chan struct{}
	hash  [sha256.Size]byte
	rates rates
}

// whose is the context's key for the name of the observer who asks; without one it is the holder of the control token.
type whose struct{}

// only lets those in who bring a credential, and no web page.
func (d *door) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Header["Origin"] != nil || r.Header["Sec-Fetch-Site"] != nil || !d.Names.Has(r.Host) {
			fail(w, http.StatusForbidden, interlock.Errorf(interlock.CodeUnauthorized, "Host",
				"this door is for no web page, and answers under its own name only"))
			return
		}
		observer, err := d.known(r)
		if err != nil {
			fail(w, http.StatusUnauthorized, err)
			return
		}
		select {
		case d.room <- struct{}{}:
			defer func() { <-d.room }()
			if err := d.looks(r, observer); err != nil {
				fail(w, http.StatusServiceUnavailable, interlock.Errorf(interlock.CodeUnavailable, "", "the look could not be recorded"))
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whose{}, observer)))
		default:
			fail(w, http.StatusServiceUnavailable, interlock.Errorf(interlock.CodeLimited, "", "%d requests are under way; try again", maxConcurrent))
		}
	})
}

// looks records that somebody looks, where that is recorded. What is done here leaves its own event.
func (d *door) looks(r *http.Request, observer string) error {
	if d.Looked == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	return d.Looked(r.Context(), interlock.Requester{Agent: cmp.Or(observer, "interlock")}, r.Method+" "+r.URL.Path)
}

// known is the observer who asks, or nobody's name for the holder of the control token. Observers tell what they see, and ask for a stop
// that people may decline; only that token stops at once.
func (d *door) known(r *http.Request) (observer string, err error) {
	refused := interlock.Errorf(interlock.CodeUnauthorized, "Authorization",
		"send Authorization: Bearer and the token of the control door, or an observer's to tell what it sees; an agent's opens nothing here")
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", refused
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", refused
	}
	hash := sha256.Sum256([]byte(token))
	if d.Token != "" && subtle.ConstantTimeCompare(hash[:], d.hash[:]) == 1 {
		return "", nil
	}
	if d.Watch == nil {
		return "", refused
	}
	record, err := d.Watch.Observer(r.Context(), token)
	if err != nil || record.ID == "" {
		return "", refused
	}
	return record.ID, nil
}

// A Stop is what is sent to stop everything.
type Stop struct {
	Mode   ledger.KillMode `json:"mode,omitempty"` // hard, which is the default, or graduated
	Reason string          `json:"reason"`
	By     string          `json:"by,omitempty"` // who or what throws the switch, for the record
}

// A State is what is answered.
type State struct {
	Stopped bool `json:"stopped"` // anything at all, see Step
	// an observer asks for it: it happens at the time Until unless an admin declines it
	Proposed bool            `json:"proposed,omitempty"`
	Step     ledger.KillStep `json:"step,omitempty"`
	Mode     ledger.KillMode `json:"mode,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	By       string          `json:"by,omitempty"`
	Since    time.Time       `json:"since,omitzero"`
	Until    time.Time       `json:"until,omitzero"`
}

// StateOf is a stop as it is shown.
func StateOf(h ledger.HoldBody, now time.Time) State {
	step := h.Step(now)
	state := State{Stopped: step != ledger.KillNone, Step: step, Mode: h.Mode, Reason: h.Why, By: h.By, Since: h.Since}
	if state.Proposed = !state.Stopped && h.Mode == ledger.KillProposed; state.Proposed {
		state.Until = h.Deadline
	}
	return state
}

// decode reads a body strictly, or answers what is wrong with it.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, interlock.Errorf(interlock.CodeLimited, "",
			"the body is longer than %d bytes, or did not come whole", maxBody))
		return false
	}
	if err := strictjson.Decode(body, into); err != nil {
		fail(w, http.StatusBadRequest, err)
		return false
	}
	return true
}

func (d *door) kill(w http.ResponseWriter, r *http.Request) {
	stop := Stop{Mode: ledger.KillHard}
	if !decode(w, r, &stop) {
		return
	}
	var err error
	switch {
	case stop.Mode != ledger.KillHard && stop.Mode != ledger.KillGraduated:
		err = interlock.Errorf(interlock.CodeInvalid, "/mode", "is not known; send hard or graduated")
	case strings.TrimSpace(stop.Reason) == "":
		err = interlock.Errorf(interlock.CodeInvalid, "/reason", "is missing; say why, for the record")
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	if stop.By == "" {
		stop.By = "the control door"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience) // all is stopped even if the caller hangs up
	defer cancel()
	h, err := d.stop(ctx, stop)
	if err != nil {
		d.Logger.ErrorContext(ctx, "stopping everything", "error", err.Error())
		fail(w, http.StatusServiceUnavailable, err)
		return
	}
	answer(w, http.StatusOK, StateOf(h, d.Now()))
}

// stop stops everything, or has people asked where an observer wants it.
func (d *door) stop(ctx context.Context, s Stop) (ledger.HoldBody, error) {
	if observer, _ := ctx.Value(whose{}).(string); observer != "" {
		return d.Backend.ProposeKill(ctx, observer, s.Reason)
	}
	return d.Backend.Kill(ctx, s.Mode, s.Reason, s.By)
}

func (d *door) state(w http.ResponseWriter, r *http.Request) {
	h, _, err := d.Backend.Killed(r.Context())
	if err != nil {
		fail(w, http.StatusServiceUnavailable, interlock.Errorf(interlock.CodeUnavailable, "", "the store does not answer"))
		return
	}
	answer(w, http.StatusOK, StateOf(h, d.Now()))
}

func fail(w http.ResponseWriter, status int, err error) {
	var known *interlock.Error
	if !errors.As(err, &known) {
		known = interlock.Errorf(interlock.CodeInternal, "", "something failed inside; the server's log has it")
	}
	answer(w, status, map[string]any{"error": map[string]any{"code": known.Code, "field": known.Field, "message": known.Message}})
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a caller who has gone away hears nothing
}
