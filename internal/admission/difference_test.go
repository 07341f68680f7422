package admission_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/admission/pinning"
)

func TestDifferences(t *testing.T) {
	const before = `{"name":"a","description":"Adds.\nOnly numbers.","inputSchema":{"properties":{"x":{"type":"number"}},"required":["x"]},"old":true}`
	const after = `{"name":"a","description":"Adds.\nOnly num\u200bbers.","inputSchema":{"properties":{"x":{"maximum":18446744073709551615,"type":"number"},"y/z":{}},"required":[]}}`
	want := []pinning.Difference{
		{Pointer: "/description", Before: []string{"Adds.", "Only numbers."}, After: []string{"Adds.", "Only num⟦U+200B⟧bers."}},
		{Pointer: "/inputSchema/properties/x/maximum", After: []string{"18446744073709551615"}},
		{Pointer: "/inputSchema/properties/y~1z", After: []string{"{}"}},
		{Pointer: "/inputSchema/required", After: []string{"[]"}},
		{Pointer: "/inputSchema/required/0", Before: []string{"x"}},
		{Pointer: "/old", Before: []string{"true"}},
	}
	if diff := cmp.Diff(want, pinning.Differences(json.RawMessage(before), json.RawMessage(after))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if same := pinning.Differences(json.RawMessage(before), json.RawMessage(before)); len(same) > 0 {
		t.Errorf("with itself: %v", same)
	}
	if all := pinning.Differences(nil, json.RawMessage(before)); len(all) != 5 || all[0].Before != nil {
		t.Errorf("without an approved one: %v", all)
	}
}
