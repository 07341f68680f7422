package classify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/classify"
)

func TestSecretsAndRedact(t *testing.T) {
	const text = "use ghp_abcdefghijklmnopqrstuvwxyz0123456789 now"
	want := []classify.Span{{Start: 4, End: 44, Kind: "github-token"}}
	if diff := cmp.Diff(want, classify.Secrets(text)); diff != "" {
		t.Errorf("want(-) got(+):\n%s", diff)
	}
	redacted, kinds := classify.Redact(text)
	if redacted != "use "+classify.Redacted+" now" || len(kinds) != 1 || kinds[0] != "github-token" {
		t.Errorf("got %q, %v", redacted, kinds)
	}
	if clean, kinds := classify.Redact("nothing here"); clean != "nothing here" || kinds != nil {
		t.Errorf("got %q, %v", clean, kinds)
	}
}
