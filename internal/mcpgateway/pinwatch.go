package mcpgateway

import (
	"context"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/ledger"
)

// watchEvery is how soon a gateway notices that operators have changed what callers may see.
const watchEvery = time.Second

// shownBy are the kinds of rows that say which tools a caller may see.
func shownBy() []string {
	return []string{ledger.Agent, ledger.Operator, ledger.Order, ledger.Challenge, ledger.Request, ledger.Pin}
}

// watch tells clients that their tools have changed when that was an operator's doing, here or in another process: an approval,
// a quarantine, a block. It costs nothing while nobody does anything of the kind. Nothing depends on it but what a client shows:
// calls and lists are decided as things stand.
func (g *Gateway) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		<-g.done
	}()
	version := int64(0)
	err := core.Follow(ctx, g.config.Backend, ledger.Watch{Kinds: shownBy(), Within: watchEvery}, func(ctx context.Context) error {
		standing, err := g.config.Backend.Ground(ctx)
		if err != nil || standing.Version == version {
			return nil //nolint:nilerr // the next change is another chance, and every call says what is wrong
		}
		version = standing.Version
		g.mu.Lock()
		open := make([]*Session, 0, len(g.sessions))
		for s := range g.sessions {
			open = append(open, s)
		}
		g.mu.Unlock()
		for _, s := range open {
			s.compare()
		}
		return nil
	})
	if err != nil {
		g.config.Logger.Warn("watching for what callers may see", "error", err.Error())
	}
}

// compare tells the client of each list if it would see other entries now than when it last asked for it.
func (s *Session) compare() {
	for k := range offerKinds {
		kind := offerKind(k)
		s.mu.Lock()
		before := s.shown[kind]
		s.mu.Unlock()
		if before == nil {
			continue // it has not asked yet
		}
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		now, err := s.visible(ctx, kind)
		cancel()
		if err == nil && s.sees(kind, now) != *before {
			s.changed(kind)
		}
	}
}

// sees remembers what of one kind a client was shown, and returns it in one text.
func (s *Session) sees(kind offerKind, shown []*offer) string {
	var b strings.Builder
	for _, o := range shown {
		b.WriteString(o.full + "\x00" + string(o.target.Upstream.Definition) + "\x00")
	}
	text := b.String()
	s.mu.Lock()
	s.shown[kind] = &text
	s.mu.Unlock()
	return text
}

// Pins says what of a server's offers may be shown, and which definition of each was approved. It is safe for concurrent use.
// What may be called it does not say: that is decided when the call is proposed, by the same rules, from
// [admission.Way.Upstream].
type Pins interface {
	// Examine holds what a server lists against what was approved: on first sight it is pinned or put into quarantine, later
	// what is new or has changed is, with an event and an alert, and all of it is on disk when Examine returns. The listing
	// is whole, all pages of it: a tool left out now is a new one later. The verdicts stand in the order of the definitions.
	// With an error nothing of the listing may be shown. A verdict is of its moment: an operator may approve what is
	// in quarantine at any time, and then Visible says so; of a verdict the definition's digest is what lasts.
	Examine(ctx context.Context, l pinning.Listing) ([]pinning.PinVerdict, error)
	// Take says what reading a resource is judged by, and pins what its server says of it if it was never read before: a list of
	// resources pins nothing. With an error it may not be read.
	Take(ctx context.Context, r pinning.Reading) (interlock.Upstream, error)
	// Visible reports of each target whether this caller may see it: whether there is any call of it that would not be
	// denied now. A target without a name is whatever its server offers. With an error nothing is visible.
	Visible(ctx context.Context, caller interlock.Requester, targets []pinning.Target) ([]bool, error)
}
