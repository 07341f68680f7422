package console_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console"
	"interlock/internal/console/stats"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
	"interlock/test/wait"
)

// A watchedLog counts the entries it hands out, and may hand out one that was changed.
type watchedLog struct {
	stats.Log
	read    atomic.Int64
	heads   atomic.Int64 // how often it was asked for
	damaged int64        // index; -1 is none
}

func (l *watchedLog) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	entries, err := l.Log.Entries(ctx, kind, span)
	l.read.Add(int64(len(entries)))
	for i := range entries {
		if entries[i].Index == l.damaged {
			entries[i].Body = append([]byte("{"), entries[i].Body...)
		}
	}
	return entries, err
}

func (l *watchedLog) Head(ctx context.Context) (ledger.Head, error) {
	l.heads.Add(1)
	return l.Log.Head(ctx)
}

// watch puts a watched log under the house's console.
func (h *house) watch() *watchedLog {
	h.t.Helper()
	return h.watchWith(func(log stats.Log) stats.Log { return log })
}

// watchWith is watch with another log before it.
func (h *house) watchWith(before func(stats.Log) stats.Log) *watchedLog {
	h.t.Helper()
	log := &watchedLog{Log: h.backend.Store, damaged: -1}
	var err error
	h.console, err = console.New(console.Config{Backend: h.backend, Tokens: identity.NewTokens(h.backend.Ground, time.Now), Verify: h.backend.Proved,
		Attest: h.backend.Attest, URL: h.url, Logger: slog.New(slog.DiscardHandler), Now: h.now, Log: before(log),
		Facts: console.Facts{Rules: h.backend.Rules, Analyser: h.backend.Analyser(), Key: h.backend.Key}})
	if err != nil {
		h.t.Fatal(err)
	}
	return log
}

// fillLog appends n decisions, many to a commit.
func fillLog(t testing.TB, h *house, n int) {
	t.Helper()
	action := interlock.Action{Kind: interlock.KindShell, Tool: "Bash",
		Input: "go test ./... && git commit -am 'Read the settings once'", Dir: "/home/dana/project"}
	payload, err := auditlog.DecisionRecord{
		Proposal: interlock.Proposal{Action: action, Requester: interlock.Requester{Principal: "dana", Agent: "builder", Run: "r1"}, Door: "hook"},
		Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Risk: 17, Profile: "guard", Findings: []interlock.Finding{},
			Impacts: []interlock.Impact{{Kind: interlock.ImpactExecute, Target: "go test", Reach: interlock.ReachWorkspace, Reversibility: interlock.Reversible,
				Confidence: interlock.Parsed, Via: "go test", Traits: []string{"build"}}},
			Action: "sha256:" + interlock.Digest(strings.Repeat("a", 64)), Ruleset: "sha256:" + interlock.Digest(strings.Repeat("b", 64)),
			Snapshot: "sha256:" + interlock.Digest(strings.Repeat("c", 64))},
	}.Payload()
	if err != nil {
		t.Fatal(err)
	}
	const batch = 1000
	for done := 0; done < n; done += batch {
		events := make([]ledger.Draft, min(batch, n-done))
		for i := range events {
			events[i] = ledger.Draft{Type: interlock.EventDecision, Run: "builder\x00r1", Seed: "seed-large", Actor: "builder", Role: "agent",
				Recorded: time.Now().UTC(), Payload: payload}
		}
		if _, err := h.backend.Store.Commit(context.Background(), ledger.Change{Events: events}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPagesReadLittle: a page costs the same whatever lies before it; a search that finds nothing stops and can be gone on with.
func TestPagesReadLittle(t *testing.T) {
	h := open(t)
	fillLog(t, h, 12_000)
	log := h.watch()
	b := h.in("ada", quorum.RoleAdmin)
	b.counted("/") // the log is counted once, by whichever page is first
	for path, most := range map[string]int64{"/": 200, "/feed": 200, "/audit": 200, "/agents": 1000, "/rules": 2000,
		"/feed?q=nothing-like-that": 4600, "/audit?q=nothing-like-that": 4600,
		"/trust": 4600, "/system": 0, "/system/phases": 0, "/system/limits": 0, "/system/privacy": 200,
		"/system/memory": 0, "/system/plans": 0, "/system/rollbacks": 0, "/grants": 0,
		"/agents/timeline?on=agent:builder": 200, "/agents/timeline?on=agent:nobody": 4600} {
		log.read.Store(0)
		page := b.get(path)
		h.want(path, page, http.StatusOK, "Interlock")
		if got := log.read.Load(); got > most {
			t.Errorf("%s reads %d entries, want at most %d", path, got, most)
		}
	}
	for _, path := range []string{"/feed?q=nothing-like-that", "/audit?q=nothing-like-that"} {
		page := b.get(path)
		steps := 0
		for ; strings.Contains(page.body, "Search further back"); steps++ {
			page = b.get(next(t, page, "Search further back"))
		}
		if steps < 2 || steps > 4 {
			t.Errorf("%s reaches the beginning in %d steps", path, steps)
		}
	}
}

// TestQuietStreams: live pages read nothing of the store while nothing is written, and show at once what is.
func TestQuietStreams(t *testing.T) {
	h := open(t)
	log := h.watch()
	b := h.in("ada", quorum.RoleAdmin)
	var pages [3]*httptest.ResponseRecorder
	var open sync.WaitGroup
	ctx, leave := context.WithCancel(t.Context())
	for i := range pages {
		pages[i] = httptest.NewRecorder()
		open.Go(func() { b.ask(ctx, "/feed/stream", pages[i]) })
	}
	wait.Until(t, "every page looks", func() bool { return log.heads.Load() >= int64(len(pages)) })
	wait.Chance(1700 * time.Millisecond) // three ticks
	if n := log.heads.Load(); n > int64(len(pages)) {
		t.Errorf("%d pages have looked %d times at a log that nobody wrote", len(pages), n)
	}
	answer := h.act("codex", "r1", shell("ls"))
	wait.Until(t, "every page is told", func() bool { return log.heads.Load() >= int64(2*len(pages)) })
	wait.Chance(50 * time.Millisecond) // for what is being written
	leave()
	open.Wait()
	for i, page := range pages {
		if !strings.Contains(page.Body.String(), answer.Event) {
			t.Errorf("page %d does not show the event", i)
		}
	}
}

// TestDamagedEntries: an entry that was changed in the store is named to auditors, and breaks no page.
func TestDamagedEntries(t *testing.T) {
	h := open(t)
	log := h.watch()
	b := h.in("ada", quorum.RoleAdmin)
	answer := h.act("codex", "r1", shell("rm -rf /"))
	h.act("claude", "r1", shell("ls"))
	log.damaged = answer.Index
	h.want("the feed", b.get("/feed"), http.StatusOK, "claude")
	h.want("the overview", b.get("/"), http.StatusOK, "claude")
	h.want("the agents", b.get("/agents"), http.StatusOK, "claude")
	page := b.get("/audit")
	h.want("the log", page, http.StatusOK, "damaged:")
	clean(t, "the log", page)
}

// BenchmarkFirstPaint is what the first pages over a log with a million events cost on the server; the budget is 150 ms. The overview over
// a log of ten stands beside it, as the floor that this machine has at this moment. The first overview of all begins to count the log and
// waits for no end of that; how long it took is said.
func BenchmarkFirstPaint(b *testing.B) {
	small := open(b)
	fillLog(b, small, 10)
	ofSmall := small.in("ada", quorum.RoleAdmin)
	ofSmall.counted("/")
	h := open(b)
	fillLog(b, h, 1_000_000)
	visitor := h.in("ada", quorum.RoleAdmin)
	b.Run("page=/,floor", func(b *testing.B) { paints(b, small, ofSmall, "/") })
	began := time.Now()
	paint(b, h, visitor, "/")
	b.Logf("the first overview of all took %v", time.Since(began))
	visitor.counted("/") // which takes its time once, and no page waits for it
	b.Logf("the log was counted within %v", time.Since(began))
	for _, path := range []string{"/", "/?range=month", "/feed", "/audit", "/feed?q=nothing-like-that", "/agents", "/rules",
		"/decisions/500000", "/system"} {
		b.Run(fmt.Sprintf("page=%s", path), func(b *testing.B) { paints(b, h, visitor, path) })
	}
}

// paints asks for a page again and again.
func paints(b *testing.B, h *house, visitor *browser, path string) {
	for b.Loop() {
		paint(b, h, visitor, path)
	}
}

// paint asks for a page and returns it.
func paint(b *testing.B, h *house, visitor *browser, path string) *httptest.ResponseRecorder {
	b.Helper()
	request := httptest.NewRequest(http.MethodGet, h.url+path, nil)
	request.Header.Set("User-Agent", visitor.agent)
	request.Header.Set("Accept-Encoding", "gzip") // as every browser
	for _, cookie := range visitor.client.Jar.Cookies(request.URL) {
		request.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	h.console.ServeHTTP(w, request)
	if w.Code != http.StatusOK {
		b.Fatalf("%d %s", w.Code, w.Body)
	}
	return w
}

// BenchmarkWeight is what a browser loads to show a page for the first time, in KB as they are sent: the page itself beside 1,000 requests
// that wait, and its style, scripts and pictures. The budget is 150 KB.
func BenchmarkWeight(b *testing.B) {
	h := open(b)
	fillLog(b, h, 1_000)
	var rows []any
	for i := range 1_000 {
		rows = append(rows, waiting(fmt.Sprintf("apr_%012x", i), time.Now().UTC().Add(-time.Duration(i)*time.Second)))
	}
	h.stand(rows)
	visitor := h.in("olga", quorum.RoleAdmin)
	visitor.counted("/")
	for _, path := range []string{"/", "/pending", "/feed", "/audit", "/agents", "/rules", "/tools", "/system", "/decisions/500",
		"/pending/apr_000000000007"} {
		b.Run("page="+path, func(b *testing.B) {
			var page, rest float64
			for b.Loop() {
				w := paint(b, h, visitor, path)
				page, rest = float64(w.Body.Len()), 0
				for _, part := range regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
					rest += float64(paint(b, h, visitor, part[1]).Body.Len())
				}
			}
			b.ReportMetric(page/1000, "page-KB")
			b.ReportMetric(rest/1000, "static-KB")
			b.ReportMetric((page+rest)/1000, "KB")
		})
	}
}

// BenchmarkBesideMany is what pages that list what stands cost the server beside 170 rows, beside 35,700, which is more of
// everything than a page lists, and beside a million: in turns, over logs of one length, and how many times as much a million costs
// as 35,700.
func BenchmarkBesideMany(b *testing.B) {
	houses := []*house{open(b), open(b), open(b)}
	for i, agents := range []int{10, 2_100, 60_000} {
		storagetest.Fill(b, houses[i].backend.Store, agents, time.Now())
	}
	longest, err := houses[2].backend.Store.Head(b.Context())
	for _, h := range houses[:2] {
		for head, _ := h.backend.Store.Head(b.Context()); err == nil && head.Size < longest.Size; head.Size++ {
			_, err = h.backend.Store.Commit(b.Context(), storagetest.Decision("longer"))
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	side := func(h *house) func(b *testing.B, path string) time.Duration {
		visitor := h.in("ada", quorum.RoleAdmin)
		return func(b *testing.B, path string) time.Duration {
			began := time.Now()
			paint(b, h, visitor, path)
			return time.Since(began)
		}
	}
	var sides []func(b *testing.B, path string) time.Duration
	for _, h := range houses {
		sides = append(sides, side(h))
	}
	for _, path := range []string{"/", "/pending", "/agents", "/tools", "/challenges", "/system", "/pending/apr_3_7"} {
		b.Run(fmt.Sprintf("page=%s", path), func(b *testing.B) {
			var took [3][]time.Duration
			for b.Loop() {
				for i, side := range sides {
					took[i] = append(took[i], side(b, path))
				}
			}
			var middle [3]float64
			for i := range took {
				slices.Sort(took[i])
				middle[i] = float64(took[i][len(took[i])/2].Microseconds())
			}
			b.ReportMetric(middle[0], "170-rows-µs")
			b.ReportMetric(middle[1], "35700-rows-µs")
			b.ReportMetric(middle[2], "1020000-rows-µs")
			b.ReportMetric(middle[2]/middle[1], "ratio")
		})
	}
}
