package auditlog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/strictjson"
	"interlock/internal/strictjson/filltest"
)

// A snapshot that was split, written, read and joined is the one it was, every field of it, those of tomorrow included.
func TestSplitIsUndone(t *testing.T) {
	for name, want := range map[string]interlock.Snapshot{"full": filltest.Value[interlock.Snapshot](), "empty": {}} {
		blobs := map[interlock.Digest]string{}
		for _, text := range want.View.Scripts {
			blobs[auditlog.BlobDigest([]byte(text))] = text
		}
		base, moving := auditlog.Still(want), auditlog.MovingOf(&want)
		got, err := auditlog.Join(written(t, base), written(t, moving), want.Taken,
			func(d interlock.Digest) (string, error) { return blobs[d], nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What moves leaves nothing of itself in the base, so that decisions which differ in nothing else share it.
func TestTheBaseHoldsNothingThatMoves(t *testing.T) {
	full := filltest.Value[interlock.Snapshot]()
	still := full
	still.Recent, still.Taken, still.View.Scripts, still.Block = nil, time.Time{}, nil, ""
	if diff := cmp.Diff(auditlog.Still(full), auditlog.Still(still)); diff != "" {
		t.Error(diff)
	}
}

// Inputs are written and read without loss.
func TestInputsAreReadAsTheyWereWritten(t *testing.T) {
	want := filltest.Value[auditlog.Inputs]()
	if diff := cmp.Diff(want, written(t, want)); diff != "" {
		t.Error(diff)
	}
}

// The texts written by hand are those of the general encoder.
func TestTextsAreCanonical(t *testing.T) {
	base, inputs := filltest.Value[auditlog.Base](), filltest.Value[auditlog.Inputs]()
	usual := inputs
	usual.Moving = auditlog.Moving{Recent: inputs.Moving.Recent, Taken: true}
	still := inputs
	still.Moving = auditlog.Moving{}
	for name, test := range map[string]struct {
		value any
		text  func() ([]byte, error)
	}{"base": {base, base.Text}, "inputs": {inputs, inputs.Text}, "usual": {usual, usual.Text}, "still": {still, still.Text},
		"none": {auditlog.Inputs{}, new(auditlog.Inputs).Text}} {
		want, err := strictjson.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := test.text(); err != nil || string(got) != string(want) {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, want)
		}
	}
}

func written[T any](t *testing.T, v T) T {
	t.Helper()
	text, err := strictjson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := strictjson.DecodeTrusted(text, &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}
