package classify_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"interlock/internal/classify"
	"interlock/rules"
)

// TestAnEncodedWordIsTheWorstInIt: what one word holds is as sensitive as the most sensitive of it, in whatever order it is there, so that
// nobody's consent to a lesser part lets the rest through.
func TestAnEncodedWordIsTheWorstInIt(t *testing.T) {
	sets, err := classify.Parse(rules.Defaults()["safety.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	const mail, number = "write to ann.miller@mail.acme.org, ", "her card is 4012 8888 8888 1881, "
	secret := "and her token is ghp" + "_" + strings.Repeat("a1B2c3", 6)
	for text, tier := range map[string]string{mail: "medium", mail + number: "high", number + mail: "high", mail + secret: "", secret + mail: ""} {
		r := classify.Text(sets.Named("mace-stage1"), "it says "+base64.StdEncoding.EncodeToString([]byte(text)))
		if r.Classification != classify.Remove || len(r.Spans) != 1 || r.Spans[0].Tier != tier {
			t.Errorf("%q: %s %+v", text, r.Classification, r.Spans)
		}
	}
}
