package mcpaql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/mcpaql"
)

// TestRunsOverMCP: an agent registers a run, delegates, ends it and is heard, each as whom its connection's credential names.
func TestRunsOverMCP(t *testing.T) {
	f := newFixture(t, nil)
	run := f.data(mcpaql.Create, `{"operation":"register_run","params":{"task":"notes","agent":"clerk","parent":"run_0","tools":["ls"],`+
		`"timeBoxSeconds":60,"key":"k"}}`)
	if run["id"] != "run_1" || run["agent"] != caller.Agent {
		t.Errorf("registered: %v", run)
	}
	ended := f.data(mcpaql.Execute, `{"operation":"end_run","params":{"run":"run_1","status":"failed","reason":"no notes"}}`)
	if ended["status"] != "failed" {
		t.Errorf("ended: %v", ended)
	}
	f.data(mcpaql.Create, `{"operation":"heartbeat"}`)
	want := []string{"RUN notes by " + caller.Agent + ": {Key:k Agent:clerk Parent:run_0 Task:notes Tools:[ls] Output:<nil> Box:60}",
		"END run_1 by " + caller.Agent + ": failed no notes", "HEARD " + caller.Agent}
	if diff := cmp.Diff(want, f.backend.taken()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f.failure(mcpaql.Execute, `{"operation":"end_run","run":"run_2","status":"completed"}`, mcpaql.CodeNoResource)
	f.failure(mcpaql.Execute, `{"operation":"end_run","run":"run_1"}`, mcpaql.CodeMissingParam)
	f.failure(mcpaql.Execute, `{"operation":"end_run","run":"run_1","status":"open"}`, mcpaql.CodeInvalidType)
	f.failure(mcpaql.Create, `{"operation":"register_run","time_box_seconds":1.5}`, mcpaql.CodeInvalidType)
}
