package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
)

// TestPin: only what was approved, as it was approved, passes; and a reason of its own is told for each way in which it was not.
func TestPin(t *testing.T) {
	upstream := interlock.Upstream{Server: "files", Identity: "sha256:aa", Tool: "read", Definition: "sha256:01"}
	pin := interlock.Pin{Server: "files", Tool: "read", Status: interlock.PinApproved, Identity: "sha256:aa", Definition: "sha256:01"}
	reasons := map[string]bool{}
	for name, tc := range map[string]struct {
		edit func(u *interlock.Upstream, p *interlock.Pin)
		want []string
	}{
		"approved":           {func(*interlock.Upstream, *interlock.Pin) {}, []string{}},
		"another definition": {func(u *interlock.Upstream, _ *interlock.Pin) { u.Definition = "sha256:02" }, []string{"pin.changed deny"}},
		"another identity":   {func(u *interlock.Upstream, _ *interlock.Pin) { u.Identity = "sha256:bb" }, []string{"pin.identity deny"}},
		"an approved place": {func(u *interlock.Upstream, p *interlock.Pin) {
			u.Identity, p.Places = "sha256:bb", []interlock.Digest{"sha256:bb"}
		}, []string{}},
		"another tool":   {func(u *interlock.Upstream, _ *interlock.Pin) { u.Tool = "write" }, []string{"pin.unknown deny"}},
		"another server": {func(u *interlock.Upstream, _ *interlock.Pin) { u.Server = "other" }, []string{"pin.unknown deny"}},
		"no definition":  {func(u *interlock.Upstream, p *interlock.Pin) { u.Definition, p.Definition = "", "" }, []string{"pin.unknown deny"}},
		"no identity":    {func(u *interlock.Upstream, p *interlock.Pin) { u.Identity, p.Identity = "", "" }, []string{"pin.unknown deny"}},
		"no status":      {func(_ *interlock.Upstream, p *interlock.Pin) { p.Status = "" }, []string{"pin.unknown deny"}},
		"first":          {hold(interlock.PinFirst), []string{"pin.first deny"}},
		"new":            {hold(interlock.PinNew), []string{"pin.new deny"}},
		"changed":        {hold(interlock.PinChanged), []string{"pin.changed deny"}},
		"moved":          {hold(interlock.PinIdentity), []string{"pin.identity deny"}},
		"poisoned":       {hold(interlock.PinInstructions), []string{"pin.instructions deny"}},
		"ordered":        {hold(interlock.PinOrdered), []string{"pin.ordered deny"}},
		"unreadable":     {hold(interlock.PinUnreadable), []string{"pin.unreadable deny"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, p := upstream, pin
			tc.edit(&u, &p)
			found := gate.Pin(nil, interlock.Snapshot{Upstream: &u, Pin: &p}, interlock.Action{}, impact.Analysis{})
			if diff := cmp.Diff(tc.want, says(found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, f := range found {
				reasons[f.Reason] = true
			}
		})
	}
	if len(reasons) != 8 {
		t.Errorf("%d different reasons are told", len(reasons))
	}
	if found := gate.Pin(nil, interlock.Snapshot{Pin: &pin}, interlock.Action{}, impact.Analysis{}); len(found) > 0 {
		t.Errorf("what no gateway passes on: %v", found)
	}
	if found := gate.Pin(nil, interlock.Snapshot{Upstream: &upstream}, interlock.Action{}, impact.Analysis{}); len(found) != 1 ||
		found[0].Rule != "pin.unknown" {
		t.Errorf("what nothing is known of: %v", found)
	}
}

func hold(why interlock.PinReason) func(*interlock.Upstream, *interlock.Pin) {
	return func(_ *interlock.Upstream, p *interlock.Pin) { p.Status, p.Why = interlock.PinQuarantined, why }
}
