package console

import (
	"testing"

	"interlock/internal/console/render"
)

// TestAResultIsTakenApart: of a result that waits for a person the list says what it was made for, and the page shows it whole.
func TestAResultIsTakenApart(t *testing.T) {
	got := render.TakeApart("result: of the run run_1\nobjective: summarise the report\ndigest: sha256:01\n\n\"buy\n\nshares\"\n")
	if got.Kind != "result" || got.Lead != "for: summarise the report" || got.Body != "\"buy\n\nshares\"" {
		t.Errorf("%+v", got)
	}
	if bare := render.TakeApart("result: of the run run_1\ndigest: sha256:01\n\n3\n"); bare.Lead != "" || bare.Brief() != "3" {
		t.Errorf("%+v", bare)
	}
}
