package console

import "testing"

// TestAResultIsTakenApart: of a result that waits for a person the list says what it was made for, and the page shows it whole.
func TestAResultIsTakenApart(t *testing.T) {
	got := takeApart("result: of the run run_1\nobjective: summarise the report\ndigest: sha256:01\n\n\"buy\n\nshares\"\n")
	if got.Kind != "result" || got.Lead != "for: summarise the report" || got.Body != "\"buy\n\nshares\"" {
		t.Errorf("%+v", got)
	}
	if bare := takeApart("result: of the run run_1\ndigest: sha256:01\n\n3\n"); bare.Lead != "" || bare.brief() != "3" {
		t.Errorf("%+v", bare)
	}
}
