package classify_test

import (
	"slices"
	"testing"

	"interlock/internal/classify"
)

// TestRedactPersonal: beside secrets, personal data of the high and the medium tier is taken out and nothing else, and doing it twice is
// doing it once.
func TestRedactPersonal(t *testing.T) {
	for text, want := range map[string]struct {
		text  string
		kinds []string
	}{
		"a plain text, 12 of 80":                            {"a plain text, 12 of 80", nil},
		"her number is 536-22-8741, please":                 {"her number is [redacted], please", []string{"us-ssn"}},
		"card 4012 8888 8888 1881 to ann@mailhouse.org":     {"card [redacted] to [redacted]", []string{"card", "email"}},
		"DE89 3704 0044 0532 0130 00":                       {"[redacted]", []string{"iban"}},
		"host 93.184.216.34":                                {"host 93.184.216.34", nil}, // of the low tier
		`{"to":"ann@mailhouse.org","n":1}`:                  {`{"to":"[redacted]","n":1}`, []string{"email"}},
		"git clone https://ann:" + "s3cretpw@mailhouse.org": {"git clone https://ann:[redacted]@mailhouse.org", nil},
	} {
		got, kinds := classify.RedactPersonal(text)
		if got != want.text || want.kinds != nil && !slices.Equal(kinds, want.kinds) {
			t.Errorf("%q: %q %v, want %q %v", text, got, kinds, want.text, want.kinds)
		}
		if again, _ := classify.RedactPersonal(got); again != got {
			t.Errorf("%q: again %q", got, again)
		}
	}
}
