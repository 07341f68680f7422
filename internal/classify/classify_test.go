package classify_test

import (
	"testing"

	"interlock/internal/classify"
)

func TestRedact(t *testing.T) {
	const text = "use ghp_abcdefghijklmnopqrstuvwxyz0123456789 now"
	redacted, kinds := classify.Redact(text)
	if redacted != "use "+classify.Redacted+" now" || len(kinds) != 1 || kinds[0] != "github-token" {
		t.Errorf("got %q, %v", redacted, kinds)
	}
	if clean, kinds := classify.Redact("nothing here"); clean != "nothing here" || kinds != nil {
		t.Errorf("got %q, %v", clean, kinds)
	}
}
