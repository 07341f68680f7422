package console_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/console"
	"interlock/internal/console/stats"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/test/wait"
)

// counted waits until the overview has read the log.
func (b *browser) counted(path string) answer {
	b.h.t.Helper()
	var page answer
	wait.Until(b.h.t, "the log is read to its end", func() bool {
		page = b.get(path)
		return page.status != http.StatusOK || !strings.Contains(page.body, "still being read")
	})
	return page
}

// tile is what a number at the top of the overview says.
func tile(page answer, label string) string {
	found := regexp.MustCompile(`<span class="label">` + label + `</span><strong[^>]*>([^<]*)</strong>`).FindStringSubmatch(page.body)
	if found == nil {
		return ""
	}
	return found[1]
}

// TestOverview: what was decided and asked is counted, and each number leads to a list that holds as much.
func TestOverview(t *testing.T) {
	h := open(t)
	b := h.in("olga", quorum.RoleAdmin)
	empty := b.counted("/")
	h.want("an empty log", empty, http.StatusOK, "No decision yet")
	clean(t, "an empty log", empty)
	h.act("claude", "r1", shell("ls"))
	h.act("claude", "r1", shell("go test ./..."))
	h.act("codex", "r1", shell("rm -rf /"))
	h.act("claude", interlock.CanaryRun+"1", shell(interlock.CanaryCommand)) // doctor's, which nothing counts
	one, two := h.ask("claude", "DELETE FROM a"), h.ask("claude", "DELETE FROM b")
	h.ask("codex", "DELETE FROM c")
	if got := b.approve(one); got.status != http.StatusSeeOther {
		t.Fatal(got.body)
	}
	b.byWord(two)
	page := b.counted("/")
	clean(t, "the overview", page)
	for label, want := range map[string]string{"Decisions": "6", "Asked": "3", "Denied": "1", "Waiting now": "1"} {
		if got := tile(page, label); got != want {
			t.Errorf("%s: %q, want %q", label, got, want)
		}
	}
	said := html.UnescapeString(page.body)
	for _, want := range []string{"Of 6 decisions in 24 hours, 2 were allowed, 3 asked, 1 denied and 0 halted.",
		"3 questions were put; people said yes to 1 and no to 1, and 0 expired. The others wait", "fs.delete-root", "1 action waits for an answer",
		"<title>3 asked, 1 denied, 0 halted, 2 allowed</title>", "under a signed head", "under a minute"} {
		if !strings.Contains(said, want) {
			t.Errorf("the overview lacks %q:\n%s", want, page.body)
		}
	}
	// Every number is a link to the list it counts.
	for label, rows := range map[string]int{"Decisions": 6, "Asked": 3, "Denied": 1} {
		link := regexp.MustCompile(`<a href="([^"]+)"><span class="label">` + label).FindStringSubmatch(page.body)
		if link == nil {
			t.Fatalf("%s leads nowhere", label)
		}
		if got := summaries(b.get(html.UnescapeString(link[1])).body); len(got) != rows {
			t.Errorf("%s leads to %q", label, got)
		}
	}
	bars := regexp.MustCompile(`<a href="([^"]+)" tabindex="-1">`).FindAllStringSubmatch(page.body, -1)
	if len(bars) == 0 {
		t.Fatal("no bar is drawn")
	}
	for _, bar := range bars {
		if got := summaries(b.get(html.UnescapeString(bar[1])).body); len(got) != 6 && len(got) != 3 {
			t.Errorf("a bar leads to %d decisions", len(got))
		}
	}
	for _, name := range []string{"day", "week", "month"} {
		if got := tile(b.counted("/?range="+name), "Decisions"); got != "6" {
			t.Errorf("%s: %q decisions", name, got)
		}
	}
	h.want("a stretch there is not", b.get("/?range=age"), http.StatusBadRequest, "is day, week or month")
	if got := b.get("/?agent=codex"); got.location != "/feed?agent=codex" {
		t.Errorf("an old link to the feed leads to %q", got.location)
	}
}

// TestOverviewByTime: what is older than the page's stretch is not counted in it, nor what says that it comes from the future; what
// expired is told apart from what was answered.
func TestOverviewByTime(t *testing.T) {
	h := open(t)
	fillLog(t, h, 3)
	for _, at := range []time.Duration{-26 * time.Hour, -8 * 24 * time.Hour, -40 * 24 * time.Hour, 3 * time.Hour} {
		h.decidedAt(time.Now().Add(at))
	}
	b := h.in("ada", quorum.RoleAdmin)
	for name, want := range map[string]string{"day": "3", "week": "4", "month": "5"} {
		if got := tile(b.counted("/?range="+name), "Decisions"); got != want {
			t.Errorf("%s: %q decisions, want %s", name, got, want)
		}
	}
	// Of two that ended, one had been answered.
	for _, status := range []string{"approved", "pending"} {
		payload := fmt.Sprintf(`{"action":"sha256:%064d","expires":"2026-01-01T00:00:00Z","request":"apr_000000000001","status":%q}`, 1, status)
		draft := ledger.Draft{Type: interlock.EventApprovalExpired, Run: "x", Seed: "s", Actor: "interlock", Role: "system",
			Recorded: time.Now().UTC(), Payload: []byte(payload)}
		if _, err := h.backend.Store.Commit(t.Context(), ledger.Change{Events: []ledger.Draft{draft}}); err != nil {
			t.Fatal(err)
		}
	}
	h.want("what expired", b.counted("/"), http.StatusOK, "and 1 expired")
}

// decidedAt writes a decision that says when it was recorded.
func (h *house) decidedAt(at time.Time) {
	h.t.Helper()
	entries, err := h.backend.Store.Entries(context.Background(), interlock.EventDecision, ledger.Before(-1, 1))
	if err != nil || len(entries) != 1 {
		h.t.Fatal(err, len(entries))
	}
	payload := regexp.MustCompile(`"payload":(\{.*\}),"prev_hash"`).FindSubmatch(entries[0].Body)
	draft := ledger.Draft{Type: interlock.EventDecision, Run: "builder\x00r1", Seed: "seed-large", Actor: "builder", Role: "agent",
		Recorded: at.UTC(), Payload: payload[1]}
	if _, err := h.backend.Store.Commit(context.Background(), ledger.Change{Events: []ledger.Draft{draft}}); err != nil {
		h.t.Fatal(err)
	}
}

// A slowLog hands out entries only when it is let.
type slowLog struct {
	stats.Log
	let chan struct{}
}

func (l *slowLog) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	if span.Limit == 500 { // as the overview counts
		<-l.let
	}
	return l.Log.Entries(ctx, kind, span)
}

// TestOverviewWhileTheLogIsRead: the page does not wait for a long log; it says what is counted so far, the newest first, and what is
// counted once is not read again.
func TestOverviewWhileTheLogIsRead(t *testing.T) {
	h := open(t)
	fillLog(t, h, 1_400)
	slow := &slowLog{let: make(chan struct{})}
	watched := h.watchWith(func(log stats.Log) stats.Log { slow.Log = log; return slow })
	b := h.in("ada", quorum.RoleAdmin)
	page := b.get("/")
	h.want("before anything is read", page, http.StatusOK, "still being read: 0 of 1,40")
	slow.let <- struct{}{}
	page = b.get("/")
	for deadline := time.Now().Add(10 * time.Second); strings.Contains(page.body, "still being read: 0 of"); page = b.get("/") {
		if time.Now().After(deadline) {
			t.Fatal(page.body)
		}
	}
	h.want("after the first chunk", page, http.StatusOK, "still being read: 500 of 1,40")
	close(slow.let)
	if got := tile(b.counted("/"), "Decisions"); got != "1,400" {
		t.Errorf("%q decisions are counted", got)
	}
	before := watched.read.Load()
	h.act("codex", "r1", shell("ls"))
	if got := tile(b.counted("/"), "Decisions"); got != "1,401" {
		t.Errorf("%q decisions are counted with one more", got)
	}
	if read := watched.read.Load() - before; read > 200 {
		t.Errorf("one more event made it read %d", read)
	}
}

// TestOverviewOfALogThatCantBeRead: what is counted is shown, and that it may be too little.
func TestOverviewOfALogThatCantBeRead(t *testing.T) {
	h := open(t)
	fillLog(t, h, 5)
	broken := &brokenLog{}
	h.watchWith(func(log stats.Log) stats.Log { broken.Log = log; return broken })
	b := h.in("ada", quorum.RoleAdmin)
	if got := tile(b.counted("/"), "Decisions"); got != "5" {
		t.Fatalf("%q decisions are counted", got)
	}
	broken.fails.Store(true)
	h.act("codex", "r1", shell("ls"))
	page := b.get("/")
	h.want("while it fails", page, http.StatusOK, "It can't be read on just now")
	if got := tile(page, "Decisions"); got != "5" {
		t.Errorf("%q decisions are shown", got)
	}
	broken.fails.Store(false)
	if got := tile(b.counted("/"), "Decisions"); got != "6" {
		t.Errorf("%q decisions are counted afterwards", got)
	}
}

// A brokenLog does not hand out entries to whoever counts.
type brokenLog struct {
	stats.Log
	fails atomic.Bool
}

func (l *brokenLog) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	if span.Limit == 500 && l.fails.Load() {
		return nil, errors.New("the disk is gone")
	}
	return l.Log.Entries(ctx, kind, span)
}

// TestOverviewSaysWhatIsWrong: mode, disk, hooks, people, latency.
func TestOverviewSaysWhatIsWrong(t *testing.T) {
	h := open(t)
	h.wrong = []string{"the hook of claude is gone"}
	h.room = console.Space{Free: 100 << 20, Total: 40 << 30}
	h.latency = console.Latency{Decisions: 9, Median: 250 * time.Microsecond, Tail: 5 * time.Millisecond}
	b := h.in("ada", quorum.RoleAdmin)
	page := b.counted("/")
	for _, want := range []string{"1 thing is wrong: it stands at the top of this page",
		"100 MB free of 40.0 GB: when it is full, nothing is allowed any more",
		"<strong>250 µs</strong>", "95 % within 5 ms", "nobody has answered a question yet", "enforcing, profile guard"} {
		if !strings.Contains(html.UnescapeString(page.body), want) {
			t.Errorf("the overview lacks %q:\n%s", want, page.body)
		}
	}
	h.room = console.Space{}
	h.want("a disk that says nothing", b.get("/"), http.StatusOK, "it can't be told how much room is left")
	for range 12 {
		b.byWord(h.ask("claude", fmt.Sprintf("DELETE FROM t%d", time.Now().UnixNano())))
	}
	h.want("people who say no to nothing", b.counted("/"), http.StatusOK, "half of the answers came within three seconds")
}

// byWord denies a request with the session's word.
func (b *browser) byWord(id string) {
	b.h.t.Helper()
	form := b.form(b.get("/pending/"+id), "/pending/"+id, "verb", "deny", "method", "session", "assertion", "")
	if got := b.do(http.MethodPost, "/pending/"+id, form); got.status != http.StatusSeeOther {
		b.h.t.Fatalf("%d %s", got.status, got.body)
	}
}
