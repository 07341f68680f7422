package hook

import "testing"

// A dialect that lacks a member would panic at the first event, or could not be tried: which harness a payload comes from, what
// it runs and whether it takes an answer for a refusal is known of each.
func TestEveryDialectHasAllMembers(t *testing.T) {
	for _, h := range harnesses() {
		d := h.dialect()
		if d.place == nil || d.parse == nil || d.asks == nil || d.answer == nil {
			t.Errorf("%s: a function of its dialect is missing", h.name)
		}
		if h.name != "opencode" && !d.shaped && d.shows == nil { // only our own plugin writes OpenCode's payloads
			t.Errorf("%s: its payloads can't be told from those of others", h.name)
		}
		if h.unnamed {
			continue // nothing is registered with it, so doctor tries nothing
		}
		if len(d.commands) == 0 || d.stops == nil {
			t.Errorf("%s: doctor can't try whether it refuses", h.name)
		}
		for _, event := range d.commands {
			if payload := Canary(h.name, event, "run"); string(payload) == string(CanaryCut(event, "run")) {
				t.Errorf("%s: the event %s has no canary", h.name, event)
			} else if read, err := readPayload(payload); err != nil || detect(h.name, read) != h.name {
				t.Errorf("%s: the canary of %s is taken for another harness's, %v", h.name, event, err)
			}
		}
	}
}
