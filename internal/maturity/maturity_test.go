package maturity

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// worked is a home of 91 days in which everything that can be evidenced is.
func worked() (Home, *Book) {
	h := Home{Now: noon, Tier: 1, Profile: "supervised", Mode: "enforcing", Agents: 1, Listed: 1, Rates: []string{"a"}, Caps: []string{"c"},
		Most: map[string]int64{"a": 100}, Roles: map[string]string{"ada": "superadmin", "bob": "admin"}, Checkpoint: true}
	b := &Book{First: noon.Add(-91 * day), Last: noon, Events: 10, Decisions: 5, Yes: 40, No: 1, Runs: 2, Boxed: 2, Sandboxed: 1,
		Orders: []SignOff{{noon, "ada", "tier 2: accepted"}, {noon, "bob", "more room"}}}
	a := b.agent("claude")
	a.Decisions, a.peaks["a"] = 5, map[int64]int64{0: 10, 1: 50}
	return h, b
}

// TestLevels: a level is named only where nothing that it or one before it asks for lacks evidence, and the judge is asked for by Defined.
func TestLevels(t *testing.T) {
	spec.Covers(t, "EC-M-1")
	h, b := worked()
	if r := Of(h, b); r.Level != "Managed" || r.Levels[2].Reached || r.Levels[4].Reached {
		t.Errorf("it is %s: %+v", r.Level, r.Levels)
	}
	for name, spoil := range map[string]func(*Home, *Book){
		"a list is missing":      func(h *Home, _ *Book) { h.Listed = 0 },
		"no agent":               func(h *Home, _ *Book) { h.Agents, h.Listed = 0, 0 },
		"another profile":        func(h *Home, _ *Book) { h.Profile = "guard" },
		"nothing is enforced":    func(h *Home, _ *Book) { h.Mode = "monitoring" },
		"a write passed":         func(_ *Home, b *Book) { b.agent("x").Unasked = 1 },
		"no rate":                func(h *Home, _ *Book) { h.Rates = nil },
		"no head":                func(h *Home, _ *Book) { h.Checkpoint = false },
		"nothing was decided":    func(_ *Home, b *Book) { b.Decisions = 0 },
		"an event can't be read": func(_ *Home, b *Book) { b.Unread = 1 },
	} {
		h, b := worked()
		spoil(&h, b)
		if r := Of(h, b); r.Level != "Initial" {
			t.Errorf("%s: it is %s", name, r.Level)
		}
	}
	for _, l := range Of(Home{Now: noon}, &Book{}).Levels[1:] {
		for _, i := range l.Indicators {
			if i.State == Met || i.Seen == "" || i.Name == "" {
				t.Errorf("of nothing: %+v", i)
			}
		}
	}
}

// TestGates: the gate is open where all of it is evidenced, and nothing that can't be told opens one.
func TestGates(t *testing.T) {
	spec.Covers(t, "EC-M-3")
	h, b := worked()
	if g := Of(h, b).Gates; !g[0].Open || g[1].Open {
		t.Errorf("%+v", g)
	}
	for name, c := range map[string]struct {
		spoil func(*Home, *Book)
		open  bool
	}{
		"89 days":             {func(_ *Home, b *Book) { b.First = noon.Add(-89 * day) }, false},
		"5 %":                 {func(_ *Home, b *Book) { b.Yes, b.No = 95, 5 }, false},
		"less":                {func(_ *Home, b *Book) { b.Yes, b.No = 96, 4 }, true},
		"no answers":          {func(_ *Home, b *Book) { b.Yes, b.No = 0, 0 }, false},
		"a stop":              {func(_ *Home, b *Book) { b.Stops = []Stop{{At: noon.Add(-59 * day)}} }, false},
		"a stop of long ago":  {func(_ *Home, b *Book) { b.Stops = []Stop{{At: noon.Add(-61 * day)}} }, true},
		"a drill":             {func(_ *Home, b *Book) { b.Stops = []Stop{{At: noon, Drill: true}} }, true},
		"nobody has signed":   {func(_ *Home, b *Book) { b.Orders = nil }, false},
		"an admin has":        {func(_ *Home, b *Book) { b.Orders[0].Operator = "bob" }, false},
		"for another tier":    {func(_ *Home, b *Book) { b.Orders[0].Reason = "tier 20: accepted" }, false},
		"who was revoked has": {func(h *Home, _ *Book) { delete(h.Roles, "ada") }, false},
		"one of the council":  {func(h *Home, _ *Book) { h.Roles["ada"] = "council" }, true},
	} {
		h, b := worked()
		c.spoil(&h, b)
		if g := Of(h, b).Gates[0]; g.Open != c.open {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// TestCapUse: what an agent used at most within a window is held against the limit as it is now.
func TestCapUse(t *testing.T) {
	spec.Covers(t, "EC-M-2")
	h, b := worked()
	a := Of(h, b).Agents[0]
	if len(a.Caps) != 1 || a.Caps[0] != (Cap{Limit: "a", Most: 100, Peak: 50, Share: 0.5}) {
		t.Errorf("%+v", a.Caps)
	}
	h.Most = nil // the limit is gone
	if c := Of(h, b).Agents[0].Caps[0]; c.Peak != 50 || c.Share != 0 {
		t.Errorf("%+v", c)
	}
}

func entry(t *testing.T, kind interlock.EventType, payload map[string]any) interlock.Entry {
	t.Helper()
	if payload == nil {
		payload = map[string]any{}
	}
	text, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"actor_id":"x","content_hash":"sha256:` + strings.Repeat("0", 64) + `","event_id":"` + auditlog.EventID("s", 1, kind) +
		`","event_type":"` + string(kind) + `","job_seed":"s","payload":` + string(text) + `,"prev_hash":"","role":"system","schema":"` + auditlog.Schema +
		`","sequence_index":1,"snapshot_ids":{},"trace_id":"","ts_recorded":"2026-11-20T12:00:00.000000Z","ts_seeded":"2000-01-01T00:00:01Z"}`
	return interlock.Entry{Type: kind, Body: []byte(body)}
}

// TestWhatIsAStop: stops and emergencies are, drills by their reason; and breakers are counted for their agent.
func TestWhatIsAStop(t *testing.T) {
	b := &Book{}
	order := func(why string) map[string]any {
		return map[string]any{"order": map[string]any{"reason": why, "operator": "ada"}}
	}
	phase := func(to string) map[string]any { return map[string]any{"hold": "agent:claude", "to": to, "why": "odd"} }
	for _, e := range []interlock.Entry{
		entry(t, interlock.EventKill, order("Drill: monday")), entry(t, interlock.EventKill, order("drilling found a fault")),
		entry(t, interlock.EventPhase, phase("A")), entry(t, interlock.EventPhase, phase("E")), entry(t, interlock.EventPhase, phase("P")),
		entry(t, interlock.EventBreaker, map[string]any{"hold": "breaker:agent:claude", "to": "open", "trigger": "breaker"}),
		entry(t, interlock.EventBreakerReset, nil), entry(t, interlock.EventApprovalExpired, nil), entry(t, interlock.EventIncident, nil),
		entry(t, interlock.EventPromotion, order("tier 2")),
		entry(t, interlock.EventRunRegistered, map[string]any{"run": map[string]any{"until": noon}}), entry(t, interlock.EventRunRegistered, nil),
	} {
		b.Add(e)
	}
	a := b.agent("claude")
	if len(b.Stops) != 3 || !b.Stops[0].Drill || b.Stops[1].Drill || b.Stops[2].Why != "odd" || a.Trips != 1 || a.Isolated != 2 ||
		b.Trips["breaker"] != 1 || b.Resets != 1 || b.Expired != 1 || b.Incidents != 1 || len(b.Orders) != 1 || b.Runs != 2 ||
		b.Boxed != 1 || b.Unread != 0 {
		t.Errorf("%+v, %+v", b, a)
	}
	b.Add(interlock.Entry{Type: interlock.EventDecision, Body: []byte("{")})
	b.Add(interlock.Entry{Type: interlock.EventApproval, Hashes: make([]byte, 32)})
	if b.Unread != 1 || b.Archived != 1 || b.Events != 14 {
		t.Errorf("%d of %d are unread, %d archived", b.Unread, b.Events, b.Archived)
	}
}

// FuzzAdd: whatever an entry holds, it is counted once and nothing breaks.
func FuzzAdd(f *testing.F) {
	for _, kind := range []interlock.EventType{interlock.EventDecision, interlock.EventApproval, interlock.EventKill, interlock.EventRunRegistered} {
		f.Add(string(kind), []byte(`{"event_type":"`+string(kind)+`","payload":{"order":null,"decision":{"verdict":"allow"}}}`))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		b := &Book{}
		b.Add(interlock.Entry{Type: interlock.EventType(kind), Body: body})
		r := Of(Home{Now: noon}, b)
		if b.Events != 1 || b.Unread+b.Archived > 1 || r.Level != "Initial" || r.Gates[0].Open || r.Gates[1].Open {
			t.Errorf("%+v", r)
		}
	})
}
