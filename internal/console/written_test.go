package console

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/console/render"
	"interlock/internal/strictjson"
	"interlock/internal/strictyaml"
)

// TestAsWritten: a rule's conditions are shown as they are written in a file of rules, and read back they are the same.
func TestAsWritten(t *testing.T) {
	const text = `{"kinds":["shell","sql"],"match":{"kind":["delete"],"glob":["rm *","a: b","no"],"traits":{"any":["force"]},"over":5,"sure":true,` +
		`"pattern":"^x\\s<&>\"$"},"list":[{"a":[1]}]}`
	got, err := render.AsWritten(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	const want = `kinds: [shell, sql]
match:
  kind: [delete]
  glob: ["rm *", "a: b", "no"]
  traits:
    any: [force]
  over: 5
  sure: true
  pattern: "^x\\s<&>\"$"
list: [ {"a":[1]}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back, err := strictyaml.ToJSON("rule", []byte(got))
	if err != nil {
		t.Fatalf("it is no YAML: %v", err)
	}
	a, errA := strictjson.Canonical([]byte(text))
	b, errB := strictjson.Canonical(back)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("read back it is\n%s, not\n%s (%v %v)", b, a, errA, errB)
	}
}
