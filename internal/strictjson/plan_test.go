package strictjson_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

type (
	holder struct {
		B    string `json:"b"`
		Same int    `json:"same"`
	}
	other struct {
		Z    []byte `json:"z,omitempty"`
		Only bool   `json:"only,omitempty"`
	}
	outer struct {
		holder
		other
		Same    string                     `json:"same"` // hides the one of the holder struct
		Numbers []uint64                   `json:"numbers,omitzero"`
		List    []interlock.Verdict        `json:"list"`
		Ratio   float64                    `json:"ratio"`
		Any     any                        `json:"any"`
		Raw     json.RawMessage            `json:"raw"`
		Least   json.RawMessage            `json:"least,omitempty"`
		Self    *outer                     `json:"self,omitempty"`
		Deep    map[string]map[string]*int `json:"deep"`
		Quoted  int64                      `json:"quoted,string"`
		At      time.Time                  `json:"at"`
		Never   *time.Time                 `json:"never,omitzero"`
		Took    time.Duration              `json:"took_ns"`
		Text    interlock.Kind             `json:"text"`
		hidden  int
		Left    int `json:"-"`
		Plain   int
		Array   [2]int `json:"array,omitempty"`
	}
	plainOuter struct { // as above, without what only the general encoder knows
		holder
		other
		Same    string              `json:"same"`
		Numbers []uint64            `json:"numbers,omitzero"`
		List    []interlock.Verdict `json:"list"`
		Any     any                 `json:"any"`
		Self    *plainOuter         `json:"self,omitempty"`
		Plain   int
		Ratio   float64 `json:"ratio"`
	}
)

// Whatever a type is made of, it is written as by the general encoder, or refused as by that.
func TestPlansWriteWhatTheGeneralEncoderWrites(t *testing.T) {
	one, verdict := 1, interlock.Halt
	loop := map[string]any{}
	loop["loop"] = loop
	for name, value := range map[string]any{
		"nothing": nil, "text": "a\u00e9\"", "bad text": "\xff", "number": 1 << 60, "small": int8(-3), "large": uint64(1 << 60),
		"float":      1e21,
		"minus zero": []any{0.0, -1.5}, "pointer": &one, "enumeration": &verdict, "no such": interlock.Verdict(9),
		"function": func() {},
		"empty":    outer{}, "plain": plainOuter{}, "pointer to plain": &plainOuter{Numbers: []uint64{},
			Self: &plainOuter{Any: []any{1, "x", nil}}},
		"full": &outer{holder: holder{"b", 1}, other: other{[]byte{1, 2, 255}, true}, Same: "s", Numbers: []uint64{}, Ratio: 0.1,
			List: []interlock.Verdict{interlock.Allow, interlock.Ask}, Any: map[string]any{"b": 1.5, "a": []string{"x"}},
			Raw: json.RawMessage(`{"b": 1, "a": [ ]}`), Least: json.RawMessage("1"), Self: &outer{}, Quoted: 7, hidden: 1, Left: 2,
			Deep: map[string]map[string]*int{"y": {"b": &one, "a": nil}, "x": nil}, At: time.Unix(1, 0).UTC(), Took: time.Second},
		"names": map[string]int{"é": 1, "z": 2, "\U0001f600": 3, "\ufb33": 4}, "keys": map[interlock.Kind]bool{"b": true, "a": false},
		"numbered": map[int]string{1: "x"}, "raw": json.RawMessage(`{`), "no raw": json.RawMessage(nil), "empty raw": json.RawMessage{},
		"time": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "times": []time.Time{{}, time.Unix(1, 5).In(time.FixedZone("", 3600))},
		"itself": loop, "bytes": []byte("abc"), "no bytes": []byte(nil), "lists": [][]string{nil, {}, {"a"}},
		"error": interlock.Errorf(interlock.CodeInvalid, "field", "message"),
	} {
		want, wantErr := strictjson.General(value)
		got, err := strictjson.Marshal(value)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: have %s, %v\nwant %s, %v", name, got, err, want, wantErr)
		}
	}
}
