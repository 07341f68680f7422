package cli

import (
	"strings"
	"testing"
	"time"
)

// Nothing is said of what takes less than a second; then where it is, not more often than anybody reads; and nothing stays.
func TestProgress(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var screen strings.Builder
	g := newProgress(&screen, func() time.Time { return at }, "verifying the log", 1000)
	for range 640 {
		g.step()
	}
	if screen.String() != "" {
		t.Errorf("within a second it says %q", screen.String())
	}
	at = at.Add(Quiet)
	for range 128 {
		g.step()
	}
	if got, want := screen.String(), "\rverifying the log: 704 of 1000 (70%)\x1b[K"; got != want {
		t.Errorf("after a second it says %q, want %q", got, want)
	}
	g.End()
	if !strings.HasSuffix(screen.String(), "\r\x1b[K") {
		t.Errorf("at the end %q stays", screen.String())
	}
	var none *progress // where there is no terminal
	none.step()
	none.End()
}
