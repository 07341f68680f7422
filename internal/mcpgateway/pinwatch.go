package mcpgateway

import (
	"context"
	"strings"
	"time"
)

// watchEvery is how often a gateway looks whether operators have changed what callers may see.
const watchEvery = time.Second

// watch tells clients that their tools have changed when that was an operator's doing, here or in another process: an approval,
// a quarantine, a block. It costs one row of the store a second. Nothing depends on it but what a client shows: calls and lists
// are decided as things stand.
func (g *Gateway) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	version := int64(0)
	for {
		select {
		case <-g.done:
			return
		case <-ticker.C:
		}
		standing, err := g.config.Backend.Ground(context.Background())
		if err != nil || standing.Version == version {
			continue
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
	}
}

// compare tells the client if it would see other tools now than when it last listed them.
func (s *Session) compare() {
	s.mu.Lock()
	before := s.shown
	s.mu.Unlock()
	if before == nil {
		return // it has not asked yet
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	now, err := s.visible(ctx, kindTools)
	if err != nil {
		return
	}
	if s.sees(now) != *before {
		s.changed(kindTools)
	}
}

// sees remembers which tools a client was shown, and returns them in one text.
func (s *Session) sees(shown []*offer) string {
	var b strings.Builder
	for _, o := range shown {
		b.WriteString(o.full + "\x00" + string(o.target.Upstream.Definition) + "\x00")
	}
	text := b.String()
	s.mu.Lock()
	s.shown = &text
	s.mu.Unlock()
	return text
}
