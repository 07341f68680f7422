package mcpgateway

import (
	"context"

	"interlock"
	"interlock/internal/admission"
)

// Pins says what of a server's offers may be shown, and which definition of each was approved. It is safe for concurrent use.
// What may be called it does not say: that is decided when the call is proposed, by the same rules, from [admission.Way.Upstream].
type Pins interface {
	// Examine holds what a server lists against what was approved: on first sight it is pinned or put into quarantine, later
	// what is new or has changed is, with an event and an alert, and all of it is on disk when Examine returns. The listing
	// is whole, all pages of it: a tool left out now is a new one later. The verdicts stand in the order of the definitions.
	// With an error nothing of the listing may be shown. A verdict is of its moment: an operator may approve what is
	// in quarantine at any time, and then Visible says so; of a verdict the definition's digest is what lasts.
	Examine(ctx context.Context, l admission.Listing) ([]admission.PinVerdict, error)
	// Take says what reading a resource is judged by, and pins what its server says of it if it was never read before: a list of
	// resources pins nothing. With an error it may not be read.
	Take(ctx context.Context, r admission.Reading) (interlock.Upstream, error)
	// Visible reports of each target whether this caller may see it: whether there is any call of it that would not be
	// denied now. A target without a name is whatever its server offers. With an error nothing is visible.
	Visible(ctx context.Context, caller interlock.Requester, targets []admission.Target) ([]bool, error)
}
