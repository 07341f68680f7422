package call_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/impacttest"
)

// What a call is told to do counts as what its name would: in an argument, in a list of operations, as a state of a machine.
func TestOperationsCountAsVerbs(t *testing.T) {
	call := func(name, arguments string) interlock.Action {
		return impacttest.Object(interlock.KindTool, name, arguments)
	}
	impacttest.CheckReadings(t, []impacttest.Reading{
		{Name: "off", Action: call("vm_power", `{"action": "power_off", "name": "db1"}`),
			Want: []string{"configure external window db1 +infrastructure"}},
		{Name: "state", Action: call("vm_power", `{"state": "stopped", "name": "db1"}`),
			Want: []string{"configure external window db1 +infrastructure"}},
		{Name: "listed", Action: call("apply_changes", `{"operations": [{"type": "create", "id": "1"}, {"type": "delete", "id": "2"}]}`),
			Want: []string{"delete external irreversible 1"}},
		{Name: "pointer", Action: call("apply_changes", `{"operations": [{"op": "remove", "path": "/a/0"}]}`),
			Want: []string{"write home reversible /a/0", "execute workspace reversible"}},
		{Name: "created", Action: call("apply_changes", `{"operations": [{"type": "create", "id": "1"}]}`),
			Want: []string{"execute workspace reversible 1"}},
		{Name: "asked", Action: call("list_audit", `{"type": "delete"}`), Want: []string{"read workspace readonly"}},
		{Name: "shown", Action: call("reset_view", `{"zoom": 1}`), Want: []string{"write workspace reversible"}},
	})
}
