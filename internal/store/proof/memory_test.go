package proof

import (
	"bytes"
	"testing"

	"interlock/internal/ledger"
)

// What is remembered of a row is the row, and what is no row is none.
func FuzzPackedRow(f *testing.F) {
	f.Add("agent", "a", int64(3), []byte("{}"), []byte("\x01\x05agent"))
	f.Add("", "", int64(-1), []byte{}, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, kind, key string, version int64, body, any []byte) {
		r := ledger.Row{Kind: kind, Key: key, Version: version, Body: body}
		got, whole := unpackRow(string(packRow(nil, r)))
		if !whole || got.Kind != kind || got.Key != key || got.Version != version || !bytes.Equal(got.Body, body) {
			t.Errorf("%+v became %+v", r, got)
		}
		if got, whole := unpackRow(string(any)); whole && len(got.Kind)+len(got.Key)+len(got.Body) > len(any) {
			t.Errorf("%q holds more than it is: %+v", any, got)
		}
	})
}
