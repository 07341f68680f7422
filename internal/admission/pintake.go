package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// A Reading is what a server says of a resource that somebody wants to read.
type Reading struct {
	Server   string
	Identity interlock.Digest
	URI      string
	// as the server lists it; none: it does not, and there is nothing that could be pinned
	Definition json.RawMessage
}

// Take says what reading a resource is to be judged by. Resources are data: there may be thousands of them, other ones each day, and
// a question about each would teach people to say yes. So a list of them pins nothing that is harmless. What the server says of one
// is pinned when it is read for the first time, is recorded then, and is held against that from then on.
//
// What has no pin of its own, because the server does not list it or has more of them than are kept, is judged by the server's. With
// an error it may not be read.
func (a *Admission) Take(ctx context.Context, r Reading) (interlock.Upstream, error) {
	of := interlock.Upstream{Server: r.Server, Identity: r.Identity}
	name := interlock.PinnedResource + r.URI
	standing, err := a.Ground(ctx, key(ledger.Pin, ledger.PinKey(r.Server, name)))
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
	d := readDefinition(interlock.PinnedResource, r.Definition)
	if d.text != nil && !known {
		taken, err := a.take(ctx, r, d)
		if err != nil || !taken {
			return of, err
		}
	}
	of.Tool, of.Definition = name, d.digest
	return of, nil
}

// take pins a resource if its server may be used and has room for one more.
func (a *Admission) take(ctx context.Context, r Reading, d definition) (taken bool, _ error) {
	on := a.rows(under(ledger.Pin, ledger.Server(r.Server)))
	_, err := a.commitOn(ctx, true, on, func(standing ledger.Standing) (ledger.Change, error) {
		e := examination{standing: standing, now: a.config.Now().UTC(),
			listing: Listing{Server: r.Server, Identity: r.Identity, Of: interlock.PinnedResource}}
		server, known := e.pin("")
		_, taken = e.pin(d.tool) // by somebody else meanwhile
		speaks := e.speaks(d) != ""
		if taken || speaks || !known || server.Status != interlock.PinApproved || !server.From(r.Identity) ||
			e.pinned() >= maxPins || !nameable(d) {
			taken = taken || speaks // such a one is judged by itself: it is in quarantine, or unknown
			return ledger.Change{}, errUnchanged
		}
		taken = true
		e.put(interlock.Pin{Tool: d.tool, Status: interlock.PinApproved, Identity: r.Identity, Definition: d.digest,
			SeenFrom: r.Identity, Seen: d.digest, Since: e.now}, d.text)
		change := ledger.Change{Version: standing.Version}
		_, err := a.pinEvents(&change, e.changes, interlock.Requester{Agent: "interlock"}, "system",
			auditlog.PinRecord{Server: r.Server, Identity: r.Identity})
		return change, err
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return false, fmt.Errorf("pinning a resource: %w", err)
	}
	return taken, nil
}
