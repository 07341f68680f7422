package pinning

import (
	"context"
	"encoding/json"
	"slices"
	"sort"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// PinsOf names the rows of the pins that a subject is about, see [interlock.PinSubject].
func PinsOf(subject string) ledger.Ref {
	server, tool, one := interlock.SplitPinSubject(subject)
	if one {
		return core.Key(ledger.Pin, ledger.PinKey(server, tool))
	}
	return core.Under(ledger.Pin, ledger.Server(server))
}

// Pinned returns the pins that a subject is about: the one it names, or the server's own first and then those of all it offers by
// name. ok is false if nothing is known of it.
func Pinned(standing ledger.Standing, subject string) (pins []interlock.Pin, ok bool) {
	server, tool, one := interlock.SplitPinSubject(subject)
	if one {
		pin, known := standing.Pins[ledger.PinKey(server, tool)]
		return []interlock.Pin{pin}, known && tool != ""
	}
	for _, pin := range standing.Pins { // in any order: sorted below
		if pin.Server == server {
			pins = append(pins, pin)
		}
	}
	sort.Slice(pins, func(i, j int) bool { return pins[i].Tool < pins[j].Tool })
	return pins, len(pins) > 0
}

// Approvable returns what an order to approve a subject would approve, and the order's Detail, which binds it to just that: what
// is seen later needs another order. An order about a whole server leaves out what an operator put into quarantine by
// itself, and what speaks to the model: these are approved one by one.
func Approvable(standing ledger.Standing, subject string) (pins []interlock.Pin, detail string, err error) {
	known, ok := Pinned(standing, subject)
	if !ok {
		return nil, "", unknownPin()
	}
	_, _, one := interlock.SplitPinSubject(subject)
	whole, server := !one, known[0]
	for _, p := range known {
		apart := p.Why == interlock.PinInstructions || p.Why == interlock.PinOrdered && !p.Since.Equal(server.Since)
		if p.Status != interlock.PinApproved && !(whole && apart) {
			pins = append(pins, p)
		}
	}
	if len(pins) == 0 {
		return nil, "", interlock.Errorf(interlock.CodeConflict, "subject",
			"there is nothing to approve; tools that speak to the model, and those an operator put into quarantine, are approved one by one, as SERVER.TOOL")
	}
	type seen struct {
		Tool     string           `json:"tool"`
		Seen     interlock.Digest `json:"seen"`
		SeenFrom interlock.Digest `json:"seen_from"`
	}
	var list []seen
	for _, p := range pins {
		list = append(list, seen{p.Tool, p.Seen, p.SeenFrom})
	}
	digest, err := strictjson.Digest("interlock/tools/v1", list)
	return pins, string(digest), err
}

func unknownPin() error {
	return interlock.Errorf(interlock.CodeNotFound, "subject",
		"nothing is known of it; `interlock tools list` lists servers and tools")
}

func readPins(o interlock.Order) []ledger.Ref {
	server, _, _ := interlock.SplitPinSubject(o.Subject)
	return []ledger.Ref{core.Under(ledger.Pin, ledger.Server(server))}
}

// changePins approves a tool or a server behind the gateway, or puts it into quarantine.
func (a *Pins) changePins(_ context.Context, c *core.PendingOrder) error {
	pins, err := orderedPins(c.Standing, c.Order)
	if err != nil {
		return err
	}
	var changes []pinChange
	for _, pin := range pins {
		if c.Verb == interlock.VerbApproveTool {
			pin = approvedPin(pin)
		} else if pin.Status == interlock.PinQuarantined && len(pins) > 1 {
			continue // for a reason of its own
		} else {
			pin.Status, pin.Why = interlock.PinQuarantined, interlock.PinOrdered
		}
		pin.By, pin.Since, pin.Detail = c.Operator, c.Now, ""
		changes = append(changes, pinChange{pin: pin})
	}
	if len(changes) == 0 {
		return interlock.Errorf(interlock.CodeConflict, "subject", "all of it is in quarantine already")
	}
	kept := a.OrderKept(c.Order)
	_, err = a.pinEvents(&c.Change, changes, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.PinRecord{Server: pins[0].Server, Order: &kept})
	return err
}

// orderedPins are the pins that an order is about, as they are now.
func orderedPins(standing ledger.Standing, order interlock.Order) ([]interlock.Pin, error) {
	if order.Verb == interlock.VerbApproveTool {
		pins, detail, err := Approvable(standing, order.Subject)
		if err == nil && detail != order.Detail {
			err = interlock.Errorf(interlock.CodeConflict, "detail",
				"what is listed has changed since it was looked at; look again and give the order anew")
		}
		return pins, err
	}
	pins, ok := Pinned(standing, order.Subject)
	if !ok {
		return nil, unknownPin()
	}
	return pins, nil
}

// approvedPin is a pin whose tool, or server, was approved as it was seen last. What was approved before an operator put it into
// quarantine counts no more; otherwise the server may go on being the one it was, too.
func approvedPin(pin interlock.Pin) interlock.Pin {
	if pin.Why == interlock.PinOrdered {
		pin.Places, pin.Former = nil, nil
	} else {
		pin.Places, pin.Former = before(pin.Places, pin.Identity, pin.SeenFrom), before(pin.Former, pin.Definition, pin.Seen)
	}
	pin.Status, pin.Why, pin.Identity, pin.Definition = interlock.PinApproved, "", pin.SeenFrom, pin.Seen
	return pin
}

// before is a list of what was approved before, with the last, and without what is approved now.
func before(list []interlock.Digest, last, now interlock.Digest) []interlock.Digest {
	rest := slices.DeleteFunc(slices.Clone(list), func(d interlock.Digest) bool { return d == last || d == now })
	if last != "" && last != now {
		rest = append([]interlock.Digest{last}, rest[:min(len(rest), maxFormer-1)]...)
	}
	return rest
}

// Definitions returns the two texts of a pin: the definition that was approved, if one ever was, and the one seen last.
func (a *Pins) Definitions(ctx context.Context, server, tool string) (approved, seen json.RawMessage, err error) {
	standing, err := a.Ground(ctx, core.Key(ledger.Pin, ledger.PinKey(server, tool)))
	if err != nil {
		return nil, nil, err
	}
	pin, known := standing.Pins[ledger.PinKey(server, tool)]
	if !known {
		return nil, nil, interlock.Errorf(interlock.CodeNotFound, "tool", "nothing is known of this tool")
	}
	first, last := ledger.DefinitionOf(server, tool, pin.Definition), ledger.DefinitionOf(server, tool, pin.Seen)
	rows, _, err := a.Config.Store.Load(ctx, first, last)
	for _, row := range rows {
		if row.Key == first.Key {
			approved = row.Body
		}
		if row.Key == last.Key {
			seen = row.Body
		}
	}
	if seen == nil {
		seen = approved
	}
	return approved, seen, err
}

// Signable returns what an order to sign a subject would sign: what is in use because first use was trusted, and nobody has
// signed for. The order's Detail binds it to just that, as it was approved: what is taken or changes later needs another order.
func Signable(standing ledger.Standing, subject string) (pins []interlock.Pin, detail string, err error) {
	known, ok := Pinned(standing, subject)
	if !ok {
		return nil, "", unknownPin()
	}
	type taken struct {
		Tool       string             `json:"tool"`
		Identity   interlock.Digest   `json:"identity"`
		Definition interlock.Digest   `json:"definition,omitempty"`
		Places     []interlock.Digest `json:"places,omitempty"`
	}
	var list []taken
	for _, p := range known {
		if p.Unsigned() {
			pins = append(pins, p)
			list = append(list, taken{p.Tool, p.Identity, p.Definition, p.Places})
		}
	}
	if len(pins) == 0 {
		return nil, "", interlock.Errorf(interlock.CodeConflict, "subject",
			"there is nothing to sign: what is in use was signed already, and what is in quarantine is approved instead")
	}
	digest, err := strictjson.Digest("interlock/tools-in-use/v1", list)
	return pins, string(digest), err
}

// signPins makes what was taken at first use stand by an operator's word. Nothing else of it changes: what it may be used for,
// and since when.
func (a *Pins) signPins(_ context.Context, c *core.PendingOrder) error {
	pins, detail, err := Signable(c.Standing, c.Subject)
	if err != nil {
		return err
	}
	if detail != c.Detail {
		return interlock.Errorf(interlock.CodeConflict, "detail",
			"what is in use has changed since it was looked at; look again and give the order anew")
	}
	changes := make([]pinChange, len(pins))
	for i, pin := range pins {
		pin.By = c.Operator
		changes[i] = pinChange{pin: pin}
	}
	kept := a.OrderKept(c.Order)
	_, err = a.pinEvents(&c.Change, changes, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.PinRecord{Server: pins[0].Server, Order: &kept})
	return err
}
