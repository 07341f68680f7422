package pinning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/inject"
	"interlock/internal/ledger"
)

// The bounds of what is known of one server.
const (
	maxPins       = 1024 // tools, of now and of before; and as many prompts, resources and templates each
	maxFormer     = 8    // definitions, or identities of the server, that were approved before
	maxServerName = 64
)

// Examine holds what a server lists against what was approved, see mcpgateway.Pins. What the store knows already costs no
// commit.
func (a *Pins) Examine(ctx context.Context, l Listing) ([]PinVerdict, error) {
	if l.Server == "" || len(l.Server) > maxServerName || strings.ContainsAny(l.Server, "./\x00") || l.Identity == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "server",
			"a server has a name of up to %d bytes without dots and slashes, and an identity", maxServerName)
	}
	tools := readDefinitions(l.Of, l.Definitions)
	var verdicts []PinVerdict
	var alert string
	on := a.Rows(core.Under(ledger.Pin, ledger.Server(l.Server))).Also(core.Under(ledger.Pin, ledger.All))
	_, err := a.CommitOn(ctx, true, on,
		func(standing ledger.Standing) (ledger.Change, error) {
			now := a.Config.Now().UTC()
			e := examination{listing: l, standing: standing, now: now}
			if l.Of != interlock.PinnedResource && e.news(tools) { // only then is anything read that may speak of others
				others, err := a.foreignTools(ctx, l.Server, tools)
				if err != nil {
					return ledger.Change{}, err
				}
				e.others = others
			}
			verdicts = e.verdicts(tools)
			if len(e.changes) == 0 {
				return ledger.Change{}, core.ErrUnchanged
			}
			change := ledger.Change{Version: standing.Version}
			var err error
			alert, err = a.pinEvents(&change, e.changes, interlock.Requester{Agent: "interlock"}, "system",
				auditlog.PinRecord{Server: l.Server, Identity: l.Identity})
			return change, err
		})
	if errors.Is(err, core.ErrUnchanged) {
		return verdicts, nil
	}
	if err != nil {
		return nil, fmt.Errorf("examining what %s lists: %w", l.Server, err)
	}
	if alert != "" && a.Config.Alert != nil {
		a.Config.Alert(alertQuarantine, alert)
	}
	return verdicts, nil
}

// alertQuarantine is the code of the alert that says that something was put into quarantine.
const alertQuarantine = "tool-quarantine"

// A pinChange is what becomes of a pin, and the text that was seen if the store has it not.
type pinChange struct {
	pin  interlock.Pin
	text json.RawMessage
}

// pinEvents adds to a change the pins and the events that say what becomes of them, and an alert if something new is
// in quarantine that no operator put there.
func (a *Pins) pinEvents(change *ledger.Change, pins []pinChange, r interlock.Requester, role string,
	record auditlog.PinRecord) (alert string, err error) {
	var steps []auditlog.PinStep
	var held []string
	for _, c := range pins {
		p := c.pin
		change.Writes = append(change.Writes, ledger.Rows(p)...)
		if ref := ledger.DefinitionOf(p.Server, p.Tool, p.Seen); len(c.text) > 0 {
			change.Writes = append(change.Writes, ledger.Row{Kind: ref.Kind, Key: ref.Key, Body: c.text})
		}
		step := auditlog.PinStep{Tool: p.Tool, Status: p.Status, Why: p.Why, Detail: a.Redact(p.Detail),
			Approved: p.Definition, Seen: p.Seen}
		if p.Tool == "" {
			step.Approved, step.Seen = p.Identity, p.SeenFrom
		}
		steps = append(steps, step)
		if p.Status == interlock.PinQuarantined && record.Order == nil {
			held = append(held, interlock.PinSubject(p.Server, p.Tool)+" ("+string(p.Why)+")")
		}
	}
	for chunk := range slices.Chunk(steps, auditlog.MaxPinSteps) {
		record.Steps = chunk
		if err := a.Append(change, interlock.EventPin, r, role, record); err != nil {
			return "", err
		}
	}
	if len(held) == 0 {
		return "", nil
	}
	const most = 8
	alert = "in quarantine until an operator approves: " + strings.Join(held[:min(len(held), most)], ", ")
	if len(held) > most {
		alert += fmt.Sprintf(" and %d more", len(held)-most)
	}
	return alert, a.Append(change, interlock.EventAlert, r, "system",
		auditlog.AlertRecord{Code: alertQuarantine, Message: a.Redact(alert)})
}

// foreignTools are the names of other servers' tools that none of this server's has. That is all of them: any may be spoken of.
func (a *Pins) foreignTools(ctx context.Context, server string, tools []definition) ([]string, error) {
	own := map[string]bool{}
	for _, t := range tools {
		own[t.Tool] = true
	}
	var names []string
	err := core.Walk(ctx, a, ledger.Pin, func(p interlock.Pin) bool {
		if p.Server != server && interlock.PinKind(p.Tool) == "tool" && !own[p.Tool] {
			names = append(names, p.Tool)
		}
		return true
	})
	sort.Strings(names)
	return slices.Compact(names), err
}

// An examination holds one listing against what is known. It is a function of its fields, and collects what changes.
type examination struct {
	listing  Listing
	standing ledger.Standing
	now      time.Time
	others   []string
	changes  []pinChange
}

func (e *examination) pin(tool string) (interlock.Pin, bool) {
	pin, known := e.standing.Pins[ledger.PinKey(e.listing.Server, tool)]
	return pin, known
}

// news reports whether a definition is another than was seen last.
func (e *examination) news(tools []definition) bool {
	return slices.ContainsFunc(tools, func(t definition) bool {
		pin, seen := e.pin(t.Tool)
		return !seen || pin.Seen != t.Digest || pin.SeenFrom != e.listing.Identity
	})
}

func (e *examination) put(pin interlock.Pin, text json.RawMessage) {
	pin.Server = e.listing.Server
	e.changes = append(e.changes, pinChange{pin, text})
}

// verdicts says of each definition what becomes of it.
func (e *examination) verdicts(tools []definition) []PinVerdict {
	server, known := e.pin("")
	count := e.pinned()
	out := make([]PinVerdict, len(tools))
	unread := 0
	for i, t := range tools {
		pin, seen := e.pin(t.Tool)
		fresh := !seen && t.Text != nil
		if fresh && e.listing.Of == interlock.PinnedResource {
			if fresh = e.speaks(t) != ""; !fresh { // it is taken when it is first read, see Take
				out[i] = PinVerdict{Tool: t.Tool, Definition: t.Digest, Approved: true}
				continue
			}
		}
		if t.Text == nil || fresh && (count >= maxPins || !nameable(t)) {
			out[i] = PinVerdict{Tool: t.Tool, Why: interlock.PinUnreadable}
			unread++
			continue
		}
		if fresh {
			count++
			pin = e.first(t, server, known)
			e.put(pin, t.Text)
		} else if next, changed := e.again(t, pin); changed {
			pin = next
			e.put(pin, t.Text)
		}
		out[i] = e.verdict(t, pin)
	}
	if next, changed := e.server(server, known, unread); changed {
		e.put(next, nil)
	}
	return out
}

// nameable reports whether an order can name what a definition would be pinned under, where there may be much of it.
func nameable(t definition) bool {
	return interlock.PinKind(t.Tool) != "resource" || len(t.Tool) <= len(interlock.PinnedResource)+maxPinnedURI
}

// pinned is how much of what is listed is known of the server.
func (e *examination) pinned() (count int) {
	kind := "tool"
	if e.listing.Of != "" {
		kind = interlock.PinKind(e.listing.Of)
	}
	for _, p := range e.standing.Pins {
		if p.Server == e.listing.Server && interlock.PinKind(p.Tool) == kind {
			count++
		}
	}
	return count
}

// speaks says what of a definition speaks to a model, or nothing.
func (e *examination) speaks(t definition) string {
	if signs := inject.DefinitionSigns(t.Text, e.others); len(signs) > 0 {
		return describe(signs)
	}
	return ""
}

func (e *examination) verdict(t definition, pin interlock.Pin) PinVerdict {
	v := PinVerdict{Tool: t.Tool, Definition: t.Digest, Why: pin.Why}
	switch {
	case pin.Status != interlock.PinApproved:
	case !pin.From(e.listing.Identity):
		v.Why = interlock.PinIdentity
	case pin.Definition != t.Digest:
		v.Why = interlock.PinChanged
	default:
		v.Approved = true
	}
	return v
}

// first is the pin of what was never seen. The first list of prompts or templates comes after that of tools, so that the server is
// known by then.
func (e *examination) first(t definition, server interlock.Pin, known bool) interlock.Pin {
	pin := interlock.Pin{Tool: t.Tool, Status: interlock.PinQuarantined, SeenFrom: e.listing.Identity,
		Seen: t.Digest, Since: e.now}
	says, begun := e.speaks(t), known
	if e.listing.Of != "" {
		begun = !known || slices.Contains(server.Lists, e.listing.Of) || server.Status != interlock.PinApproved ||
			!server.From(e.listing.Identity)
	}
	switch {
	case says != "":
		pin.Why, pin.Detail = interlock.PinInstructions, says
	case known && server.Why == interlock.PinFirst || !begun && !e.listing.FirstUse:
		pin.Why = interlock.PinFirst
	case begun:
		pin.Why = interlock.PinNew
	default:
		pin.Status, pin.Identity, pin.Definition = interlock.PinApproved, e.listing.Identity, t.Digest
	}
	return pin
}

// again is what becomes of a tool that was seen before. What has changed once stays in quarantine, even if it changes back:
// the person who looks at it should know. A definition that was approved before another one was is what a session that began
// earlier still sees; it is not used any more and tells nothing new.
func (e *examination) again(t definition, pin interlock.Pin) (next interlock.Pin, changed bool) {
	if pin.Seen == t.Digest && pin.SeenFrom == e.listing.Identity {
		return pin, false
	}
	if pin.Status == interlock.PinApproved {
		if pin.From(e.listing.Identity) && (pin.Definition == t.Digest || slices.Contains(pin.Former, t.Digest)) {
			return pin, false
		}
		pin.Status, pin.Since, pin.By = interlock.PinQuarantined, e.now, ""
	}
	pin.Seen, pin.SeenFrom = t.Digest, e.listing.Identity
	if pin.Why == interlock.PinOrdered || pin.Definition == t.Digest && pin.From(e.listing.Identity) {
		return pin, true // what it is there for stays so
	}
	if says := e.speaks(t); says != "" && pin.Definition != t.Digest {
		pin.Why, pin.Detail = interlock.PinInstructions, says
		return pin, true
	}
	pin.Detail = ""
	switch {
	case pin.Definition == "" && (pin.Why == interlock.PinFirst || pin.Why == interlock.PinNew):
	case pin.Definition == "":
		pin.Why = interlock.PinNew
	case !pin.From(e.listing.Identity):
		pin.Why = interlock.PinIdentity
	default:
		pin.Why = interlock.PinChanged
	}
	return pin, true
}

// server is what becomes of the server itself. Which of its lists were seen is noted with it.
func (e *examination) server(pin interlock.Pin, known bool, unread int) (next interlock.Pin, changed bool) {
	lists := slices.Clone(e.listing.Absent)
	if e.listing.Of != "" {
		lists = []string{e.listing.Of}
	}
	next, changed = pin, false
	if e.listing.Of == "" {
		next, changed = e.examined(pin, known, unread)
	} else if !known || e.listing.Of == interlock.PinnedResource {
		return pin, false // a server is known from the list of its tools; and resources are never new, see Take
	}
	next.Lists = slices.Clone(next.Lists)
	for _, list := range lists {
		if !slices.Contains(next.Lists, list) {
			next.Lists, changed = append(next.Lists, list), true
		}
	}
	return next, changed
}

// examined is what becomes of the server when its tools are examined.
func (e *examination) examined(pin interlock.Pin, known bool, unread int) (next interlock.Pin, changed bool) {
	detail := ""
	if unread > 0 {
		detail = fmt.Sprintf("%d definitions can't be read, stand twice or are too many, and are left out", unread)
	}
	switch {
	case !known:
		pin = interlock.Pin{Status: interlock.PinQuarantined, Why: interlock.PinFirst, Since: e.now}
		if e.listing.FirstUse {
			pin.Status, pin.Why, pin.Identity = interlock.PinApproved, "", e.listing.Identity
		}
		changed = true
	case pin.Status == interlock.PinApproved && pin.From(e.listing.Identity):
		pin.Detail, changed = detail, pin.Detail != detail
		return pin, changed
	case pin.SeenFrom != e.listing.Identity:
		if pin.Status == interlock.PinApproved {
			pin.Status, pin.Why, pin.Since, pin.By = interlock.PinQuarantined, interlock.PinIdentity, e.now, ""
		}
		changed = true
	}
	if pin.SeenFrom, changed = e.listing.Identity, changed || pin.Detail != detail; !changed {
		return pin, false
	}
	pin.Detail = detail
	return pin, true
}

// describe tells the signs to people, with the places where they stand.
func describe(signs []inject.DefinitionSign) string {
	var parts []string
	for _, s := range signs[:min(len(signs), 3)] {
		parts = append(parts, core.Bounded(s.Pointer, 80)+": "+s.What)
	}
	if len(signs) > 3 {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, "; ")
}

// PinOf is what the standing knows of the tool an upstream would run, or of the server itself, as far as a decision needs it.
func PinOf(standing ledger.Standing, u *interlock.Upstream) *interlock.Pin {
	if u == nil {
		return nil
	}
	pin, known := standing.Pins[ledger.PinKey(u.Server, u.Tool)]
	if !known {
		return nil
	}
	return &interlock.Pin{Server: pin.Server, Tool: pin.Tool, Status: pin.Status, Why: pin.Why, Identity: pin.Identity,
		Definition: pin.Definition,
		Places:     pin.Places}
}

// A Reading is what a server says of a resource that somebody wants to read.
type Reading struct {
	Server   string
	Identity interlock.Digest
	URI      string
	// as the server lists it; none: it does not, and there is nothing that could be pinned
	Definition json.RawMessage
}

// Take says what reading a resource is to be judged by. Resources are data: there may be thousands of them, other ones each day,
// and a question about each would teach people to say yes. So a list of them pins nothing that is harmless. What the server says
// of one is pinned when it is read for the first time, is recorded then, and is held against that from then on.
//
// What has no pin of its own, because the server does not list it or has more of them than are kept, is judged by the server's.
// With an error it may not be read.
func (a *Pins) Take(ctx context.Context, r Reading) (interlock.Upstream, error) {
	of := interlock.Upstream{Server: r.Server, Identity: r.Identity}
	name := interlock.PinnedResource + r.URI
	standing, err := a.Ground(ctx, core.Key(ledger.Pin, ledger.PinKey(r.Server, name)))
	if err != nil {
		return of, fmt.Errorf("reading what is pinned of a resource: %w", err)
	}
	pin, known := standing.Pins[ledger.PinKey(r.Server, name)]
	if len(r.Definition) == 0 {
		if known && pin.Status != interlock.PinApproved { // not listed any more, and in quarantine all the same
			of.Tool, of.Definition = name, pin.Seen
		}
		return of, nil
	}
	d := ReadDefinition(interlock.PinnedResource, r.Definition)
	if d.Text != nil && !known {
		taken, err := a.take(ctx, r, d)
		if err != nil || !taken {
			return of, err
		}
	}
	of.Tool, of.Definition = name, d.Digest
	return of, nil
}

// take pins a resource if its server may be used and has room for one more.
func (a *Pins) take(ctx context.Context, r Reading, d definition) (taken bool, _ error) {
	on := a.Rows(core.Under(ledger.Pin, ledger.Server(r.Server)))
	_, err := a.CommitOn(ctx, true, on, func(standing ledger.Standing) (ledger.Change, error) {
		e := examination{standing: standing, now: a.Config.Now().UTC(),
			listing: Listing{Server: r.Server, Identity: r.Identity, Of: interlock.PinnedResource}}
		server, known := e.pin("")
		_, taken = e.pin(d.Tool) // by somebody else meanwhile
		speaks := e.speaks(d) != ""
		if taken || speaks || !known || server.Status != interlock.PinApproved || !server.From(r.Identity) ||
			e.pinned() >= maxPins || !nameable(d) {
			taken = taken || speaks // such a one is judged by itself: it is in quarantine, or unknown
			return ledger.Change{}, core.ErrUnchanged
		}
		taken = true
		e.put(interlock.Pin{Tool: d.Tool, Status: interlock.PinApproved, Identity: r.Identity, Definition: d.Digest,
			SeenFrom: r.Identity, Seen: d.Digest, Since: e.now}, d.Text)
		change := ledger.Change{Version: standing.Version}
		_, err := a.pinEvents(&change, e.changes, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.PinRecord{Server: r.Server, Identity: r.Identity})
		return change, err
	})
	if err != nil && !errors.Is(err, core.ErrUnchanged) {
		return false, fmt.Errorf("pinning a resource: %w", err)
	}
	return taken, nil
}

// Subscriptions are the browsers that are told of requests, by id.
func (a *Pins) Subscriptions(ctx context.Context) ([]ledger.SubscriptionBody, error) {
	now := a.Config.Now()
	rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Subscription, ledger.Until),
		ledger.From(now.UnixNano(), ledger.MaxSubscriptions))
	var list []ledger.SubscriptionBody
	for _, row := range rows {
		if body, ok := row.Value.(ledger.SubscriptionBody); ok && body.Stands(now) {
			list = append(list, body)
		}
	}
	slices.SortFunc(list, func(x, y ledger.SubscriptionBody) int { return strings.Compare(x.ID, y.ID) })
	return list, err
}

// NoteSubscription changes what is noted of one browser. It is no event: what the operator did to have it is recorded by the door
// where it was done.
func (a *Pins) NoteSubscription(ctx context.Context, id string,
	change func(ledger.SubscriptionBody) ledger.SubscriptionBody) error {
	return a.Config.Store.Note(ctx, core.Key(ledger.Subscription, id), func(value any) (any, error) {
		was, _ := value.(ledger.SubscriptionBody) // the zero value where there is none
		now := change(was)
		if now.ID == "" {
			return nil, nil // what is gone stays gone
		}
		return now, nil
	})
}
