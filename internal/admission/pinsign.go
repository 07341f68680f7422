package admission

import (
	"context"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// Signable returns what an order to sign a subject would sign: what is in use because first use was trusted, and nobody has signed
// for. The order's Detail binds it to just that, as it was approved: what is taken or changes later needs another order.
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

// signPins makes what was taken at first use stand by an operator's word. Nothing else of it changes: what it may be used for, and
// since when.
func (a *Admission) signPins(_ context.Context, c *carrying) error {
	pins, detail, err := Signable(c.standing, c.Subject)
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
	kept := a.orderKept(c.Order)
	_, err = a.pinEvents(&c.change, changes, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.PinRecord{Server: pins[0].Server, Order: &kept})
	return err
}
