package auditlog_test

import (
	"bytes"
	"reflect"
	"testing"

	"interlock/internal/auditlog"
	"interlock/internal/strictjson/filltest"
)

// TestEqualBasesHaveOneText: whatever member of a base is another, it is not taken for an equal one.
func TestEqualBasesHaveOneText(t *testing.T) {
	whole := func() auditlog.Base {
		b := filltest.Value[auditlog.Base]()
		b.Snapshot, _ = auditlog.Split(b.Snapshot)
		b.Snapshot.Danger, b.Snapshot.Grants, b.Snapshot.Suppressions = nil, nil, nil
		return b
	}
	a, b := whole(), whole()
	if !a.Equal(&b) {
		t.Error("equal bases are not")
	}
	members := 0
	var each func(name string, of reflect.Value)
	each = func(name string, of reflect.Value) {
		for n := range of.NumField() {
			field, name := of.Field(n), name+"."+of.Type().Field(n).Name
			if field.Kind() == reflect.Struct && field.NumField() > 0 && field.Type().Field(0).IsExported() {
				each(name, field)
				continue
			}
			was := reflect.ValueOf(field.Interface())
			if field.IsZero() { // it moves, and is in no base
				continue
			}
			field.SetZero()
			one, err := a.Text()
			other, err2 := b.Text()
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if !bytes.Equal(one, other) {
				members++
				if a.Equal(&b) || b.Equal(&a) {
					t.Errorf("%s makes no difference", name)
				}
			}
			field.Set(was)
		}
	}
	each("base", reflect.ValueOf(&a).Elem())
	if members < 20 {
		t.Errorf("only %d members were looked at", members)
	}
}
