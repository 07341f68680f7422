package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
)

// whole are the structs that a row is about as they are: what is in one of them is not set apart.
var whole = []reflect.Type{reflect.TypeFor[Channel](), reflect.TypeFor[SandboxProfile](), reflect.TypeFor[GatewayIssuer](),
	reflect.TypeFor[GatewayServer]()}

// leaves are the names of all settings that a struct holds.
func leaves(of reflect.Type, prefix string) (names []string) {
	for f := range of.NumField() {
		field := of.Field(f)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Anonymous:
			names = append(names, leaves(field.Type, prefix)...)
		case field.Type.Kind() == reflect.Struct && !slices.Contains(whole, field.Type):
			names = append(names, leaves(field.Type, prefix+name+".")...)
		default:
			names = append(names, prefix+name)
		}
	}
	return names
}

// TestEverySettingGovernsOrNot: whoever adds a setting says in the table what makes it weaker, or why nothing does.
func TestEverySettingGovernsOrNot(t *testing.T) {
	rows := map[string]bool{}
	for _, g := range Settings() {
		if rows[g.Name] {
			t.Errorf("%s has two rows", g.Name)
		}
		rows[g.Name] = true
		if (g.Weaker == "") == (g.Free == "") {
			t.Errorf("%s: say either what makes it weaker or why nothing does", g.Name)
		}
		if g.Governs() && g.join == nil {
			t.Errorf("%s: nothing is done about it", g.Name)
		}
	}
	for _, name := range leaves(reflect.TypeFor[Config](), "") {
		if !rows[name] {
			t.Errorf("the setting %s has no row in Settings: say what makes it weaker, or why nothing does", name)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("%s has a row and is no setting", name)
	}
}

// A pair is a setting as it is ordered, and what somebody writes.
type pair struct {
	of         string
	base, want func(*Config)
	stays      bool // want has no effect, or not all of it
}

func pairs() []pair {
	no, yes := false, true
	return []pair{
		{"mode", func(c *Config) {}, func(c *Config) { c.Mode = interlock.Monitoring }, true},
		{"mode", func(c *Config) { c.Mode = interlock.Monitoring }, func(c *Config) { c.Mode = interlock.Monitoring }, false},
		{"mode", func(c *Config) { c.Mode = interlock.Monitoring }, func(c *Config) { c.Mode = interlock.Disabled }, true},
		{"mode", func(c *Config) { c.Mode = interlock.Monitoring }, func(c *Config) {}, false},
		{"profile", func(c *Config) {}, func(c *Config) { c.Profile = "autonomous" }, true},
		{"profile", func(c *Config) {}, func(c *Config) { c.Profile = "supervised" }, false},
		{"profile", func(c *Config) { c.Profile = "asa" }, func(c *Config) { c.Profile = "supervised" }, true},
		{"profile", func(c *Config) { c.Profile = "managed" }, func(c *Config) { c.Profile = "asa" }, true},
		{"rules_signed", func(c *Config) { c.RulesSigned = SigningRequired }, func(c *Config) { c.RulesSigned = SigningNoted }, true},
		{"rules_signed", func(c *Config) { c.RulesSigned = SigningRequired }, func(c *Config) {}, true},
		{"rules_signed", func(c *Config) {}, func(c *Config) { c.RulesSigned = SigningRequired }, false},
		{"unattended", func(c *Config) { c.Unattended = true }, func(c *Config) {}, true},
		{"unattended", func(c *Config) {}, func(c *Config) { c.Unattended = true }, false},
		{"production", func(c *Config) { c.Production = []string{"a", "b"} }, func(c *Config) { c.Production = []string{"b"} }, true},
		{"production", func(c *Config) { c.Production = []string{"a"} }, func(c *Config) { c.Production = []string{"a", "b"} }, false},
		{"approval_ttl", func(c *Config) {}, func(c *Config) { c.ApprovalTTL = Duration(2 * time.Hour) }, true},
		{"approval_ttl", func(c *Config) {}, func(c *Config) { c.ApprovalTTL = Duration(time.Minute) }, false},
		{"code_ttl", func(c *Config) {}, func(c *Config) { c.CodeTTL = Duration(time.Hour) }, true},
		{"channels", func(c *Config) {}, func(c *Config) { c.Channels = []Channel{{Kind: "terminal"}} }, true},
		{"channels", func(c *Config) { c.Channels = []Channel{{Kind: "terminal"}} }, func(c *Config) {}, true},
		{"channels", func(c *Config) { c.Channels = []Channel{{Kind: "terminal"}} },
			func(c *Config) { c.Channels = []Channel{{Kind: "terminal"}} }, false},
		{"quiet_hours", func(c *Config) {}, func(c *Config) { c.QuietHours = "00:00-23:59" }, true},
		{"tell_user_after", func(c *Config) {}, func(c *Config) { c.TellUserAfter = 9 }, true},
		{"tell_user_after", func(c *Config) {}, func(c *Config) { c.TellUserAfter = 2 }, false},
		{"max_questions", func(c *Config) {}, func(c *Config) { c.MaxQuestions = 1000 }, true},
		{"max_questions", func(c *Config) {}, func(c *Config) { c.MaxQuestions = 5 }, false},
		{"council.quorum", func(c *Config) { c.Council.Quorum = 4 }, func(c *Config) { c.Council.Quorum = 2 }, true},
		{"council.quorum", func(c *Config) { c.Council.Quorum = 4 }, func(c *Config) { c.Council.Quorum = 4 }, false},
		{"council.vote_window", func(c *Config) {}, func(c *Config) { c.Council.Window = Duration(time.Hour) }, true},
		{"council.request_timeout", func(c *Config) {}, func(c *Config) { c.Council.Timeout = Duration(96 * time.Hour) }, true},
		{"council.approval_wait", func(c *Config) {}, func(c *Config) { c.Council.Wait = Duration(time.Minute) }, true},
		{"council.audit_window", func(c *Config) {}, func(c *Config) { c.Council.Audit = Duration(200 * time.Hour) }, true},
		{"council.review_window", func(c *Config) {}, func(c *Config) { c.Council.Review = Duration(200 * time.Hour) }, true},
		{"council.second_factor", func(c *Config) { c.Council.Second = true }, func(c *Config) {}, true},
		{"council.second_factor", func(c *Config) {}, func(c *Config) { c.Council.Second = true }, false},
		{"council.governs", func(c *Config) { c.Council.Governs = true }, func(c *Config) {}, true},
		{"council.governs", func(c *Config) {}, func(c *Config) { c.Council.Governs = true }, false},
		{"memory.enabled", func(c *Config) {}, func(c *Config) { c.Memory.Enabled = true }, true},
		{"memory.enabled", func(c *Config) { c.Memory.Enabled = true }, func(c *Config) {}, false},
		{"memory.shared", func(c *Config) {}, func(c *Config) { c.Memory.Shared = []string{"project"} }, true},
		{"memory.shared", func(c *Config) { c.Memory.Shared = []string{"project", "team"} },
			func(c *Config) { c.Memory.Shared = []string{"team"} }, false},
		{"memory.ttl", func(c *Config) {}, func(c *Config) { c.Memory.TTL = Duration(memoryLongest) }, true},
		{"memory.ttl", func(c *Config) {}, func(c *Config) { c.Memory.TTL = Duration(time.Hour) }, false},
		{"allow_remote", func(c *Config) {}, func(c *Config) { c.AllowRemote = true }, true},
		{"console_url", func(c *Config) {}, func(c *Config) { c.ConsoleURL = "https://elsewhere.example" }, true},
		{"push_hosts", func(c *Config) {}, func(c *Config) { c.PushHosts = []string{"inside.example"} }, true},
		{"push_hosts", func(c *Config) { c.PushHosts = []string{"inside.example"} }, func(c *Config) {}, false},
		{"checkpoint_to", func(c *Config) { c.CheckpointTo = []string{"/mnt/a"} }, func(c *Config) {}, true},
		{"witnesses", func(c *Config) { c.Witnesses = []Witness{{URL: "https://w.example", Key: "w+1+A"}} }, func(c *Config) {}, true},
		{"ship_to", func(c *Config) { c.ShipTo = []Shipment{{To: "/mnt/a"}} }, func(c *Config) {}, true},
		{"otlp_to.to", func(c *Config) {}, func(c *Config) { c.OTLPTo.To = "https://collector.example" }, true},
		{"otlp_to.token", func(c *Config) {}, func(c *Config) { c.OTLPTo.Token = "env:SECRET" }, true},
		{"otlp_to.to", func(c *Config) { c.OTLPTo.To = "https://collector.example" }, func(c *Config) { c.OTLPTo.To = "https://collector.example" },
			false},
		{"forget_inputs", func(c *Config) {}, func(c *Config) { c.ForgetInputs = true }, true},
		{"archive_after", func(c *Config) {}, func(c *Config) { c.ArchiveAfter = archiveAge }, true},
		{"archive_after", func(c *Config) { c.ArchiveAfter = archiveAge }, func(c *Config) {}, false},
		{"archive_after", func(c *Config) { c.ArchiveAfter = archiveAge }, func(c *Config) { c.ArchiveAfter = 2 * archiveAge }, false},
		{"archive_to", func(c *Config) {}, func(c *Config) { c.ArchiveTo = "/tmp/x" }, true},
		{"privacy.log", func(c *Config) { c.Privacy.Log = PrivacyRedact }, func(c *Config) { c.Privacy.Log = PrivacyKeep }, true},
		{"privacy.log", func(c *Config) { c.Privacy.Log = PrivacyRedact }, func(c *Config) {}, true},
		{"privacy.log", func(c *Config) {}, func(c *Config) { c.Privacy.Log = PrivacyRedact }, false},
		{"privacy.log", func(c *Config) { c.Profile = "mace-stage1" }, func(c *Config) { c.Profile = "mace-stage1" }, false},
		{"redteam.every", func(c *Config) { c.Redteam.Every = Duration(time.Hour) }, func(c *Config) {}, true},
		{"redteam.every", func(c *Config) { c.Redteam.Every = Duration(2 * time.Hour) },
			func(c *Config) { c.Redteam.Every = Duration(time.Hour) }, false},
		{"redteam.every", func(c *Config) {}, func(c *Config) { c.Redteam.Every = Duration(time.Hour) }, false},
		{"redteam.cases", func(c *Config) {}, func(c *Config) { c.Redteam.Cases = 10 }, true},
		{"redteam.cases", func(c *Config) { c.Redteam.Cases = 10 }, func(c *Config) {}, false},
		{"mcp_acknowledge", func(c *Config) { c.MCPAcknowledge = true }, func(c *Config) {}, true},
		{"mcp_token_ttl", func(c *Config) {}, func(c *Config) { c.MCPTokenTTL = Duration(15 * time.Minute) }, true},
		{"mcp_token_ttl", func(c *Config) {}, func(c *Config) { c.MCPTokenTTL = Duration(5 * time.Minute) }, false},
		{"mcp_forbidden_token_ttl", func(c *Config) {}, func(c *Config) { c.MCPForbiddenTokenTTL = Duration(5 * time.Minute) }, true},
		{"mcp_clock_tolerance", func(c *Config) {}, func(c *Config) { c.MCPClockTolerance = Duration(time.Minute) }, true},
		{"sandbox.profile", func(c *Config) {}, func(c *Config) { c.Sandbox.Profile = "build" }, true},
		{"sandbox.profiles", func(c *Config) {}, ofSandbox("default", SandboxProfile{Hosts: []string{"example.com"}}), true},
		{"sandbox.profiles", func(c *Config) {}, ofSandbox("own", SandboxProfile{Memory: 1 << 40}), true},
		{"sandbox.profiles", func(c *Config) {}, ofSandbox("own", SandboxProfile{Sockets: true}), true},
		{"sandbox.profiles", func(c *Config) {}, ofSandbox("own", SandboxProfile{Startup: []string{}}), true},
		{"sandbox.profiles", func(c *Config) {}, ofSandbox("own", SandboxProfile{Time: Duration(time.Second), Overlay: true}), false},
		{"sandbox.profiles", ofSandbox("own", SandboxProfile{Env: []string{"A"}}), ofSandbox("own", SandboxProfile{Env: []string{"A", "B"}}), true},
		{"sandbox.profiles", ofSandbox("own", SandboxProfile{Env: []string{"A"}}), ofSandbox("own", SandboxProfile{Env: []string{"A"}}), false},
		{"sandbox.profiles", ofSandbox("scratch", SandboxProfile{Time: Duration(time.Second)}), func(c *Config) {}, true},
		{"kill_on", func(c *Config) { c.KillOn = []interlock.SignalKind{interlock.SignalDLP} }, func(c *Config) {}, true},
		{"kill_confirm", func(c *Config) {}, func(c *Config) { c.KillConfirm = Duration(time.Hour) }, true},
		{"kill_confirm", func(c *Config) {}, func(c *Config) { c.KillConfirm = Duration(time.Second) }, false},
		{"digest_at", func(c *Config) { c.DigestAt = "08:00" }, func(c *Config) {}, false},
		{"control", func(c *Config) {}, func(c *Config) { c.Control = "127.0.0.1:7434" }, false},
		{"hosts", func(c *Config) {}, func(c *Config) { c.Hosts = []string{"evil.example"} }, true},
		{"gateway.hosts", func(c *Config) {}, func(c *Config) { c.Gateway.Hosts = []string{"evil.example"} }, true},
		{"gateway.origins", func(c *Config) {}, func(c *Config) { c.Gateway.Origins = []string{"https://evil.example"} }, true},
		{"gateway.allow_remote", func(c *Config) {}, func(c *Config) { c.Gateway.Remote = true }, true},
		{"gateway.auth.issuers", func(c *Config) {}, func(c *Config) { c.Gateway.Auth.Issuers = []GatewayIssuer{{Name: "x"}} }, true},
		{"gateway.auth.issuers", func(c *Config) { c.Gateway.Auth.Issuers = []GatewayIssuer{{Name: "x"}} }, func(c *Config) {}, false},
		{"gateway.tls.client_ca", func(c *Config) {}, func(c *Config) { c.Gateway.TLS.ClientCA = "/tmp/ca" }, true},
		{"gateway.tls.client", func(c *Config) {}, func(c *Config) { c.Gateway.TLS.Client = "optional" }, true},
		{"gateway.tls.client_name", func(c *Config) {}, func(c *Config) { c.Gateway.TLS.Agent = "cn" }, true},
		{"gateway.record", func(c *Config) {}, func(c *Config) { c.Gateway.Record = RecordObjections }, true},
		{"gateway.record", func(c *Config) {}, func(c *Config) { c.Gateway.Record = RecordAll }, false},
		{"hook_texts", func(c *Config) { c.HookTexts = TextsResults }, func(c *Config) { c.HookTexts = TextsOff }, true},
		{"gateway.texts", func(c *Config) { c.Gateway.Texts = TextsMACE }, func(c *Config) { c.Gateway.Texts = TextsResults }, true},
		{"gateway.texts", func(c *Config) { c.Gateway.Texts = TextsResults }, func(c *Config) { c.Gateway.Texts = TextsMACE }, false},
		{"gateway.texts", func(c *Config) { c.Profile = signedProfile },
			func(c *Config) { c.Profile, c.Gateway.Texts = signedProfile, TextsOff }, true},
		{"gateway.texts", func(c *Config) { c.Profile = signedProfile },
			func(c *Config) { c.Profile, c.Gateway.Texts = signedProfile, TextsMACE }, false},
		{"gateway.trust_on_first_use", func(c *Config) {}, func(c *Config) { c.Gateway.TrustOnFirstUse = &yes }, true},
		{"gateway.trust_on_first_use", func(c *Config) { c.Gateway.TrustOnFirstUse = &no }, func(c *Config) {}, true},
		{"gateway.trust_on_first_use", func(c *Config) {}, func(c *Config) { c.Gateway.TrustOnFirstUse = &no }, false},
		{"judge.rules", func(c *Config) {}, func(c *Config) { c.Judge.Rules = "mild.md" }, true},
		{"judge.canary.every", func(c *Config) {}, func(c *Config) { c.Judge.Canary.Every = Duration(time.Hour) }, true},
		{"judge.canary.every", func(c *Config) {}, func(c *Config) { c.Judge.Canary.Every = Duration(time.Minute) }, false},
		{"judge.canary.deny", func(c *Config) {}, func(c *Config) { c.Judge.Canary.Deny = "true" }, true},
		{"judge.canary.allow", func(c *Config) {}, func(c *Config) { c.Judge.Canary.Allow = "true" }, true},
		{"judge.judges", func(c *Config) {}, ofJudge(JudgeModel{Name: "x", Wire: "openai-chat", URL: "https://elsewhere.example"}), true},
		{"judge.judges", ofJudge(JudgeModel{Name: "x", Timeout: Duration(time.Minute)}), func(c *Config) {}, true},
		{"judge.judges", ofJudge(JudgeModel{Name: "x"}), ofJudge(JudgeModel{Name: "x", PriceIn: 1}), true},
		{"judge.judges", ofJudge(JudgeModel{Name: "x", MaxPayload: 1024, PriceIn: 0.15}),
			ofJudge(JudgeModel{Name: "x", MaxPayload: 1024, PriceIn: 0.15}), false},
		{"judge.when", func(c *Config) {}, func(c *Config) { c.Judge.When = "outward" }, true},
		{"judge.when", func(c *Config) {}, func(c *Config) { c.Judge.When = "all" }, false},
		{"judge.when", func(c *Config) { c.Judge.When = "outward" }, func(c *Config) {}, false},
		{"judge.remember", func(c *Config) {}, func(c *Config) { c.Judge.Remember = Duration(time.Hour) }, true},
		{"judge.remember", func(c *Config) {}, func(c *Config) { c.Judge.Remember = Duration(time.Second) }, false},
		{"judge.budgets", func(c *Config) {}, func(c *Config) { c.Judge.Budgets = []JudgeBudget{{Name: "day", Most: "USD 5"}} }, true},
		{"judge.after", func(c *Config) {}, func(c *Config) { c.Judge.After = []string{"write workspace"} }, true},
		{"judge.after", func(c *Config) { c.Judge.After = []string{"write workspace"} }, func(c *Config) {}, false},
		{"judge.sample", func(c *Config) {}, func(c *Config) { c.Judge.Sample = map[string]int{"read workspace": 99} }, true},
		{"judge.sample", ofSample(50), ofSample(10), true},
		{"judge.sample", ofSample(50), ofSample(60), false},
		{"judge.sample", ofSample(50), func(c *Config) {}, false},
		{"judge.owed", func(c *Config) {}, func(c *Config) { c.Judge.Owed = 1000 }, true},
		{"judge.owed", func(c *Config) {}, func(c *Config) { c.Judge.Owed = 10 }, false},
		{"judge.within", func(c *Config) {}, func(c *Config) { c.Judge.Within = Duration(time.Hour) }, true},
		{"judge.within", func(c *Config) {}, func(c *Config) { c.Judge.Within = Duration(time.Minute) }, false},
		{"judge.reasoning", func(c *Config) { c.Judge.Reasoning = []ReasoningModel{{Model: "m"}} }, func(c *Config) {}, true},
		{"judge.reasoning", func(c *Config) {}, func(c *Config) { c.Judge.Reasoning = []ReasoningModel{{Model: "m"}} }, false},
	}
}

func ofJudge(m JudgeModel) func(*Config) {
	return func(c *Config) { c.Judge.Judges = []JudgeModel{m} }
}

func ofSample(share int) func(*Config) {
	return func(c *Config) { c.Judge.Sample = map[string]int{"read workspace": share} }
}

func ofSandbox(name string, p SandboxProfile) func(*Config) {
	return func(c *Config) { c.Sandbox.Profiles = map[string]SandboxProfile{name: p} }
}

// TestStricter: of what is ordered and what is written the stricter is in force, an order brings back exactly what it was made of, and
// what comes of both is no weaker than either.
func TestStricter(t *testing.T) {
	tried := map[string]bool{"rules": true} // TestStricterRules
	for _, p := range pairs() {
		tried[p.of] = tried[p.of] || p.stays
		base, want := Baseline("/home/x"), Baseline("/home/x")
		p.base(&base)
		p.want(&want)
		departures, err := Departures(base)
		if err != nil {
			t.Fatal(err)
		}
		ordered, err := Ordered("/home/x", departures)
		if err != nil {
			t.Fatalf("%s: %v", p.of, err)
		}
		inForce, weaker := Stricter(ordered, want)
		var names []string
		for _, g := range weaker {
			names = append(names, g.Name)
		}
		wanted := []string(nil)
		if p.stays {
			wanted = []string{p.of}
		}
		if !slices.Equal(names, wanted) {
			t.Errorf("%s: %s ordered and %s written: no effect of %v, want %v", p.of, shown(p.of, base), shown(p.of, want), names, wanted)
		}
		if _, again := Stricter(ordered, inForce); len(again) > 0 {
			t.Errorf("%s: what is in force, %s, is weaker than what was ordered, %s", p.of, shown(p.of, inForce), shown(p.of, base))
		}
	}
	for _, g := range Settings() {
		if g.Governs() && !tried[g.Name] {
			t.Errorf("%s: nobody tries to make it weaker", g.Name)
		}
	}
}

func shown(name string, c Config) string {
	for _, g := range Settings() {
		if g.Name == name {
			return g.Shown(c)
		}
	}
	return "?"
}

// TestStricterRules: rules that are there are not passed over by naming another directory.
func TestStricterRules(t *testing.T) {
	home := t.TempDir()
	base, want := Baseline(home), Baseline(home)
	want.Rules = filepath.Join(home, "none")
	if inForce, weaker := Stricter(base, want); len(weaker) > 0 || inForce.Rules != want.Rules {
		t.Errorf("where no rules are, others have no effect: %v", weaker)
	}
	if err := os.Mkdir(base.Rules, 0o700); err != nil {
		t.Fatal(err)
	}
	if inForce, weaker := Stricter(base, want); len(weaker) != 1 || inForce.Rules != base.Rules {
		t.Errorf("rules in force are those of %s, %d settings without effect", inForce.Rules, len(weaker))
	}
}

// TestOrderedRefuses: an order about what this program does not know is none.
func TestOrderedRefuses(t *testing.T) {
	for _, departures := range []map[string]json.RawMessage{
		{"mood": json.RawMessage(`1`)}, {"listen": json.RawMessage(`"x"`)}, {"mode": json.RawMessage(`"lenient"`)},
		{"quiet_hours": json.RawMessage(`"always"`)}, {"channels": json.RawMessage(`7`)}} {
		if _, err := Ordered("/home/x", departures); err == nil {
			t.Errorf("%s is an order", departures)
		}
	}
}
