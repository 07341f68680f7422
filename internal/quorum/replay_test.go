package quorum_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestCheckReplay: who may have recorded decisions made again in which mode, and what going on after a divergence takes.
func TestCheckReplay(t *testing.T) {
	spec.Covers(t, "MACE-REP-6", "MACE-REPLAY-06")
	people := people()
	for _, name := range []string{"carla", "carl", "chris"} {
		people[name] = interlock.OperatorRecord{Name: name, Role: quorum.RoleCouncil, SSHKey: "key-of-" + name}
	}
	for name, role := range map[string]string{"auditor": quorum.RoleAuditor, "admin": quorum.RoleAdmin} {
		people[name] = interlock.OperatorRecord{Name: name, Role: role, SSHKey: "key-of-" + name}
	}
	people["twin"] = interlock.OperatorRecord{Name: "twin", Role: quorum.RoleAuditor, SSHKey: "key-of-admin"}
	by := func(verb interlock.Verb, mode quorum.ReplayMode, names ...string) (list []interlock.Order) {
		for _, name := range names {
			list = append(list, order(verb, name, func(o *interlock.Order) {
				o.Subject, o.Detail, o.Method = "run-1", string(mode), interlock.MethodSSH
				if name == "twin" {
					o.Operator = "twin"
				}
			}))
		}
		return list
	}
	const replay, force = interlock.VerbReplay, interlock.VerbForceContinue
	for name, tc := range map[string]struct {
		mode   quorum.ReplayMode
		orders []interlock.Order
		forced bool
		want   string
	}{
		"audit by an operator":       {"audit", by(replay, "audit", "operator"), false, ""},
		"audit by an auditor":        {"audit", by(replay, "audit", "auditor"), false, ""},
		"audit by an admin":          {"audit", by(replay, "audit", "admin"), false, ""},
		"audit by a viewer":          {"audit", by(replay, "audit", "viewer"), false, "may not order a replay"},
		"audit by the council":       {"audit", by(replay, "audit", "carla"), false, "by an operator, an admin or an auditor"},
		"test by an operator":        {"test", by(replay, "test", "operator"), false, ""},
		"production by an admin":     {"production", by(replay, "production", "admin"), false, "an admin and an auditor"},
		"production by two auditors": {"production", by(replay, "production", "auditor", "auditor"), false, "an admin and an auditor"},
		"production by both":         {"production", by(replay, "production", "admin", "auditor"), false, ""},
		"production by two of three": {"production", by(replay, "production", "carla", "carl"), false, "quorum of the council"},
		"production by the council":  {"production", by(replay, "production", "carla", "carl", "chris"), false, ""},
		"one of the council thrice":  {"production", by(replay, "production", "carla", "carla", "carla"), false, "quorum of the council"},
		"another mode":               {"production", by(replay, "audit", "admin", "auditor"), false, "another replay"},
		"a mode nobody knows":        {"fast", by(replay, "fast", "admin"), false, "name audit, test or production"},
		"no order":                   {"audit", nil, false, "one to eight"},
		"another order":              {"audit", by(interlock.VerbPromote, "audit", "admin"), false, "ordered by replay"},
		"nothing but going on":       {"audit", by(force, "audit", "admin", "carla"), false, "by an operator"},
		"going on by an admin": {"audit", append(by(replay, "audit", "admin"), by(force, "audit", "admin")...), false,
			"FORCE_CONTINUE_REQUIRED"},
		"going on by two admins": {"audit", append(by(replay, "audit", "admin"), by(force, "audit", "admin", "admin")...),
			false, "FORCE_CONTINUE_REQUIRED"},
		"going on by an auditor": {"audit", append(by(replay, "audit", "admin"), by(force, "audit", "admin", "auditor")...),
			false, "may not order"},
		"going on by admin, council": {"audit", append(by(replay, "audit", "admin"), by(force, "audit", "admin", "carla")...), true, ""},
		"going on for another replay": {"test", append(by(replay, "test", "admin"), by(force, "audit", "admin", "carla")...),
			false, "another replay"},
	} {
		forced, err := quorum.CheckReplay(tc.mode, "run-1", tc.orders, people, agents(), verify, noon)
		if forced != tc.forced || tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v %v, want %v %q", name, forced, err, tc.forced, tc.want)
		}
	}
	unsigned := by(replay, "audit", "admin")
	unsigned[0].Statement, unsigned[0].Signature = "", ""
	if _, err := quorum.CheckReplay("audit", "run-1", unsigned, people, agents(), verify, noon); err == nil {
		t.Error("a name is enough")
	}
	// Two names with one key are one person.
	both := by(replay, "production", "admin")
	second := order(replay, "twin", func(o *interlock.Order) { o.Subject, o.Detail, o.Method = "run-1", "production", interlock.MethodSSH })
	second.Key, second.Signature = "SHA256:key-of-admin", sign("key-of-admin", second.Statement)
	if _, err := quorum.CheckReplay("production", "run-1", append(both, second), people, agents(), verify, noon); err == nil ||
		!strings.Contains(err.Error(), "an admin and an auditor") {
		t.Errorf("one person under two names: %v", err)
	}
}
