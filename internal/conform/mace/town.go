package mace

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/conform"
)

// Checks is the table for the MACE safety boundaries.
func Checks() []conform.Check {
	return slices.Concat(textChecks(), peopleChecks(), memoryChecks(), councilChecks(), emergencyChecks(), governingChecks(),
		moduleChecks(),
		limitChecks(), roleChecks(), logChecks(), alarmChecks(), replayChecks(), testChecks())
}

// A town is a home that a council of five governs: ada has founded it as superadmin, adam is an admin, aud an auditor, vic a viewer and c1
// to c5 sit on the council.
type town struct{ *conform.House }

// members are the council.
var members = []string{"c1", "c2", "c3", "c4", "c5"}

// founded is the town of that name. What checks of one town do to it, the later ones find.
func founded(ctx context.Context, d *conform.Driver, name string) (town, error) {
	h, err := d.House(ctx, conform.Plan{Name: name, Clocked: true, Settings: "memory: {enabled: true, shared: [project]}\n"})
	if err != nil {
		return town{}, err
	}
	t := town{h}
	for _, o := range [][2]string{{"adam", "admin"}, {"aud", "auditor"}, {"vic", "viewer"}} {
		if err := t.Operator(ctx, o[0], o[1]); err != nil {
			return t, err
		}
	}
	for _, m := range members {
		if err := t.Operator(ctx, m, "council"); err != nil {
			return t, err
		}
	}
	return t, t.Agents(ctx, "scout")
}

// common is the town of most checks.
func common(ctx context.Context, d *conform.Driver) (town, error) { return founded(ctx, d, "mace") }

// patterns are what is picked out of what commands print.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"request": regexp.MustCompile(`act_[0-9a-f]+`),
		"event":   regexp.MustCompile(`[0-9a-f]{64}`),
		"short":   regexp.MustCompile(`recorded as event ([0-9a-f]+)`),
	}
})

// asks is a request by an operator for a governed action. It returns the request's id.
func (t town) asks(ctx context.Context, operator, kind, target, because string, flags ...string) (id string, err error) {
	args := append([]string{"request", "create", kind, "--target", target, "--because", because}, flags...)
	said, err := t.Order(ctx, operator, args...)
	if err != nil {
		return "", err
	}
	if id = patterns()["request"].FindString(said.Out); id == "" {
		return "", fmt.Errorf("a request for %s is answered %s", kind, said.Out)
	}
	return id, nil
}

// votes has members vote to approve.
func (t town) votes(ctx context.Context, id string, who ...string) error {
	for _, m := range who {
		if _, err := t.Order(ctx, m, "request", "vote", id, "--approve"); err != nil {
			return err
		}
	}
	return nil
}

// rejects has members vote against.
func (t town) rejects(ctx context.Context, id string, who ...string) error {
	for _, m := range who {
		if _, err := t.Order(ctx, m, "request", "vote", id, "--reject", "--reason", "no"); err != nil {
			return err
		}
	}
	return nil
}

// carries executes a request.
func (t town) carries(ctx context.Context, operator, id string) error {
	_, err := t.Order(ctx, operator, "request", "execute", id)
	return err
}

// settled has three of the council approve a request, and adam carry it out.
func (t town) settled(ctx context.Context, id string) error {
	return conform.First(t.votes(ctx, id, "c1", "c2", "c3"), t.carries(ctx, "adam", id))
}

// given is what a request of adam's comes to that the council approves.
func (t town) given(ctx context.Context, kind, target, because string, flags ...string) (id string, err error) {
	if id, err = t.asks(ctx, "adam", kind, target, because, flags...); err != nil {
		return "", err
	}
	return id, t.settled(ctx, id)
}

// status is where a request stands.
func (t town) status(ctx context.Context, id string) string {
	for line := range strings.Lines(t.CLI(ctx, "", "request", "show", id).Out) {
		if status, found := strings.CutPrefix(line, "status: "); found {
			return strings.TrimSpace(status)
		}
	}
	return ""
}

// refused is a fault unless an operator's command is refused in those words.
func (t town) refused(ctx context.Context, operator, words string, args ...string) error {
	said := t.CLI(ctx, "", append(args, "--key", t.KeyFile(operator))...)
	return conform.Unless(said.Code != 0 && strings.Contains(said.Err, words), "interlock %s by %s ends with %d: %s",
		strings.Join(args, " "), operator, said.Code, said.Out+said.Err)
}

// An event is one of the log, as far as checks look at it.
type event struct {
	ID        string            `json:"event_id"`
	Type      string            `json:"event_type"`
	Seed      string            `json:"job_seed"`
	Sequence  int64             `json:"sequence_index"`
	Actor     string            `json:"actor_id"`
	Content   string            `json:"content_hash"`
	Previous  string            `json:"prev_hash"`
	Key       string            `json:"key_id"`
	Signature string            `json:"signature"`
	Trace     string            `json:"trace_id"`
	Snapshots map[string]string `json:"snapshot_ids"`
	Payload   json.RawMessage   `json:"payload"`
}

// events are those of a type, as far as they are listed.
func (t town) events(ctx context.Context, kind string) []event {
	var list []event
	for line := range strings.Lines(t.Events(ctx, kind)) {
		var entry struct {
			Event event `json:"event"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Event.Type == kind {
			list = append(list, entry.Event)
		}
	}
	return list
}

// newest is the newest event of a type whose payload holds a text; an empty one where there is none.
func (t town) newest(ctx context.Context, kind, holds string) event {
	for _, e := range t.events(ctx, kind) {
		if strings.Contains(string(e.Payload), holds) {
			return e
		}
	}
	return event{}
}

// waits lets a server do what it does every few seconds, until that is seen or half a minute is over.
func (t town) waits(ctx context.Context, seen func() bool) {
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for !seen() {
		select {
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		case <-look.C:
		}
	}
}

// event is one by its id.
func (t town) event(ctx context.Context, id string) (e event) {
	var entry struct {
		Event event `json:"event"`
	}
	text := []byte(t.Event(ctx, id))
	if json.Unmarshal(text, &entry) == nil && entry.Event.ID != "" {
		return entry.Event
	}
	_ = json.Unmarshal(text, &e) // an empty one is a fault of the check that looks
	return e
}

// by is how what was seen names an event.
func (e event) by() string { return e.Type + " " + e.ID }

// is is a fault unless an event is there, and is signed by itself.
func (e event) is(kind string) error {
	return conform.First(conform.Unless(e.ID != "", "the log holds no such %s", kind),
		conform.Unless(e.Signature != "" && e.Key != "", "%s has no signature that names its key", kind))
}
