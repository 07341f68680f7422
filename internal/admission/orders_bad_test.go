package admission_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/quorum"
)

// TestOrdersGoneWrong: an order of which a part is missing, whose operator or roster has become another between signing and giving, or
// whose clock was moved, gets its exact refusal. Nothing of it is done, one event says so, and the same order given as it should be
// counts: what was refused has not used it up.
func TestOrdersGoneWrong(t *testing.T) {
	put := func(t *testing.T, h *house, o interlock.OperatorRecord) {
		t.Helper()
		if err := h.PutOperator(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	const statement, signature = "statement: the signed statement is not the one for this order",
		"signature: the signature does not verify with the operator's registered key"
	const stale = "expires: the order was not given within the last ten minutes; give it again"
	for name, test := range map[string]struct {
		bad   func(t *testing.T, h *house, given quorum.Given) quorum.Given // what was signed comes in, what is handed over goes out
		after func(t *testing.T, h *house)                                  // how it becomes as it should be; nil: by itself
		want  string
	}{
		"half a statement": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Statement = given.Statement[:len(given.Statement)/2]
			return given
		}, nil, statement},
		"no statement": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Statement = ""
			return given
		}, nil, statement},
		"half a signature": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Signature = given.Signature[:len(given.Signature)/2]
			return given
		}, nil, signature},
		"no signature": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Signature = ""
			return given
		}, nil, signature},
		"half a name": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Operator = given.Operator[:2]
			return given
		}, nil, "operator: no such operator"},
		"nobody's name": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Operator = ""
			return given
		}, nil, "operator: no such operator"},
		"no times": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.At, given.Expires = time.Time{}, time.Time{}
			return given
		}, nil, stale},
		"no reason": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Reason = ""
			return given
		}, nil, "reason: say why, for the record"},
		"no verb": {func(_ *testing.T, _ *house, given quorum.Given) quorum.Given {
			given.Verb = ""
			return given
		}, nil, "verb: there is no such order"},
		"its operator was revoked": {func(t *testing.T, h *house, given quorum.Given) quorum.Given {
			put(t, h, interlock.OperatorRecord{Name: "ada", Role: quorum.RoleAdmin, SSHKey: "key of ada", Created: h.now, Revoked: h.now})
			return given
		}, func(t *testing.T, h *house) { h.employ("ada", quorum.RoleAdmin) }, "operator: this operator is revoked"},
		"its operator has another role": {func(_ *testing.T, h *house, given quorum.Given) quorum.Given {
			h.employ("ada", quorum.RoleViewer)
			return given
		}, func(_ *testing.T, h *house) { h.employ("ada", quorum.RoleAdmin) }, "operator: this order needs an operator with the admin role"},
		"its operator has another key": {func(t *testing.T, h *house, given quorum.Given) quorum.Given {
			put(t, h, interlock.OperatorRecord{Name: "ada", Role: quorum.RoleAdmin, SSHKey: "key of somebody else", Created: h.now})
			return given
		}, func(t *testing.T, h *house) { h.employ("ada", quorum.RoleAdmin) }, signature},
		"the clock went back": {func(_ *testing.T, h *house, given quorum.Given) quorum.Given {
			h.now = h.now.Add(-2 * time.Minute)
			return given
		}, func(_ *testing.T, h *house) { h.now = h.now.Add(2 * time.Minute) }, stale},
		"the clock went forward": {func(_ *testing.T, h *house, given quorum.Given) quorum.Given {
			h.now = h.now.Add(6 * time.Minute)
			return given
		}, func(_ *testing.T, h *house) { h.now = h.now.Add(-6 * time.Minute) }, stale},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, func(c *admission.Config) {
				c.Verify = func(o interlock.OperatorRecord, _, _, signature string) (string, error) {
					if name, whole := strings.CutSuffix(signature, "'s"); whole && o.SSHKey == "key of "+name {
						return "fingerprint of " + signature, nil
					}
					return "", errors.New("it does not verify")
				}
			})
			h.employ("ada", quorum.RoleAdmin)
			given := h.about("ruleset:sha256:01", "")("ada")
			given.Verb = interlock.VerbHold
			given = given.Signed(interlock.MethodSSH, "fingerprint of ada's", "ada's")
			handed := test.bad(t, h, given)
			before, stands := len(h.entries()), image(t, h)
			refusal := (*interlock.Error)(nil)
			if err := h.give(handed); !errors.As(err, &refusal) || refusal.Field+": "+strings.TrimSuffix(refusal.Message, ".") != test.want {
				t.Errorf("the refusal is %v, want %q", err, test.want)
			}
			if diff := cmp.Diff([]interlock.EventType{interlock.EventApprovalRefused}, h.entries()[before:]); diff != "" {
				t.Errorf("the events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(stands, image(t, h)); diff != "" {
				t.Errorf("what stands (-before +after):\n%s", diff)
			}
			if test.after != nil {
				test.after(t, h)
			}
			if err := h.give(given); err != nil {
				t.Errorf("given as it should be: %v", err)
			}
			if err := h.give(given); err == nil {
				t.Error("it counted twice")
			}
		})
	}
}
