package mcpgateway

import (
	"context"
	"strings"
	"time"

	"interlock/internal/admission"
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
	err := admission.Follow(ctx, g.config.Backend, ledger.Watch{Kinds: shownBy(), Within: watchEvery}, func(ctx context.Context) error {
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
