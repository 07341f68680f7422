package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"
)

func seedMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a.b","arguments":{"x":[1,2,{"y":"é"}]},"_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","id":"a","result":{"content":[]}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\u0061":2}}`, `{"JSONRPC":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`,
		"\f{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "\u00a0{}", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`,
		`{"jsonrpc":"2.0","id":-0,"method":"p\u0069ng","params":{"a":1e5,"b":-0.1E-7,"c":true,"d":null,"e":"\ud800"}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", ``, `{`, `nul`, `01`,
	} {
		f.Add([]byte(s))
	}
}

// What decodes is valid JSON in which no object has a name twice, says what an independent reader reads in it, and means the
// same when it is written anew and read again; its parts are forwarded as they were sent.
func FuzzEnvelope(f *testing.F) {
	seedMessages(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		e, bad := Decode(message)
		if bad != nil {
			if bad.Message == "" || bad.Code == 0 || bad.ID != nil && !json.Valid(bad.ID) {
				t.Fatalf("%q is refused with %+v", message, bad)
			}
			return
		}
		if err := onlyOnce(json.NewDecoder(bytes.NewReader(message))); err != nil {
			t.Fatalf("%q: %v", message, err)
		}
		var want struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(message, &want); err != nil || want.Version != "2.0" {
			t.Fatalf("%q: %v", message, err)
		}
		if string(want.Params) == "null" {
			want.Params = nil
		}
		if string(want.ID) == "null" { // only an error may have it
			if want.Error == nil || want.Method != "" {
				t.Fatalf("%q has an id that names nothing", message)
			}
			want.ID = nil
		}
		same := e.Method == want.Method && bytes.Equal(e.ID, want.ID) && bytes.Equal(e.Params, want.Params) &&
			bytes.Equal(e.Result, want.Result) && bytes.Equal(e.Fault, want.Error)
		if !same {
			t.Fatalf("%q: have %+v, want %+v", message, e, want)
		}
		var again []byte
		switch {
		case e.IsRequest():
			again = tail(append(append(again, `{"jsonrpc":"2.0","id":`...), e.ID...), e.Method, e.Params)
		case e.Method != "":
			again = AppendNotification(nil, e.Method, e.Params)
		case e.Fault != nil:
			again = AppendFault(nil, e.ID, e.Fault)
		default:
			again = AppendResult(nil, e.ID, e.Result)
		}
		second, bad := Decode(again)
		if second.ID == nil {
			second.ID = e.ID
		}
		if e.ID == nil {
			second.ID = nil
		}
		if bad != nil || !reflect.DeepEqual(e, second) {
			t.Fatalf("%q is written as %q, which is %+v, %v", message, again, second, bad)
		}
	})
}

// A member found is the piece of the object that an independent reader finds, and putting it back changes nothing.
func FuzzMembers(f *testing.F) {
	seedMessages(f)
	f.Fuzz(func(t *testing.T, message []byte) {
		e, bad := Decode(message)
		if bad != nil || e.Params == nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(e.Params, &want); err != nil {
			t.Fatalf("%q: %v", e.Params, err)
		}
		have := map[string]json.RawMessage{}
		Members(e.Params, func(name, value []byte) { have[string(name)] = value })
		for name, value := range have {
			if !bytes.Equal(want[name], value) && json.Valid([]byte(name)) {
				t.Fatalf("%q: %q is %q, want %q", e.Params, name, value, want[name])
			}
			var before, after any
			if json.Unmarshal(e.Params, &before) != nil || json.Unmarshal(With(e.Params, name, value), &after) != nil || !reflect.DeepEqual(before, after) {
				t.Fatalf("%q: with its own %q it is %q", e.Params, name, With(e.Params, name, value))
			}
		}
		if len(have) != len(want) {
			t.Fatalf("%q: %d members, want %d", e.Params, len(have), len(want))
		}
	})
}

var errTwice = errors.New("a name stands twice")

// onlyOnce walks one value by an independent reader.
func onlyOnce(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	names := map[string]bool{}
	for d.More() {
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if names[name.(string)] {
				return errTwice
			}
			names[name.(string)] = true
		}
		if err := onlyOnce(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
