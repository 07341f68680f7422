package auditlog_test

import (
	"reflect"
	"testing"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
	"interlock/internal/strictjson/filltest"
)

// TestEqualBasesHaveOneText: whatever member of a snapshot is another, it is not taken for an equal one, whether it is in the base or
// moves.
func TestEqualBasesHaveOneText(t *testing.T) {
	full := filltest.Value[interlock.Snapshot]()
	still := auditlog.Still(full)
	still.Danger, still.Grants, still.Suppressions = nil, nil, nil
	if again := still; !auditlog.SameBase(&still, &again) || auditlog.Moves(&still) {
		t.Error("equal snapshots are not")
	}
	members := 0
	// of is a member of one, as that of whole is filled; the first is held against other, which differs in nothing else
	var each func(name string, of, whole reflect.Value, one, other *interlock.Snapshot)
	each = func(name string, of, whole reflect.Value, one, other *interlock.Snapshot) {
		for n := range of.NumField() {
			field, name := of.Field(n), name+"."+of.Type().Field(n).Name
			if field.Kind() == reflect.Struct && field.NumField() > 0 && field.Type().Field(0).IsExported() {
				each(name, field, whole.Field(n), one, other)
				continue
			}
			was := reflect.ValueOf(field.Interface())
			for _, value := range []reflect.Value{reflect.Zero(field.Type()), whole.Field(n), emptied(field.Type())} {
				field.Set(value)
				a, err := strictjson.SnapshotDigest(one)
				b, err2 := strictjson.SnapshotDigest(other)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				if a == b {
					continue
				}
				members++
				if !auditlog.Moves(one) && (auditlog.SameBase(one, other) || auditlog.SameBase(other, one)) {
					t.Errorf("%s makes no difference", name)
				}
			}
			field.Set(was)
		}
	}
	one, empty := still, interlock.Snapshot{}
	each("full", reflect.ValueOf(&one).Elem(), reflect.ValueOf(full), &one, &still)
	each("empty", reflect.ValueOf(&empty).Elem(), reflect.ValueOf(full), &empty, &interlock.Snapshot{})
	if members < 60 {
		t.Errorf("only %d members were looked at", members)
	}
}

// emptied is a value without members, which is another than none, where there is one.
func emptied(of reflect.Type) reflect.Value {
	switch of.Kind() {
	case reflect.Slice:
		return reflect.MakeSlice(of, 0, 0)
	case reflect.Map:
		return reflect.MakeMap(of)
	}
	return reflect.Zero(of)
}
