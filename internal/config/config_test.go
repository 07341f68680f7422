package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/config"
)

func write(t *testing.T, text string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestLoad(t *testing.T) {
	withHome := func(c config.Config, home string) config.Config { c.Home = home; return c }
	for _, test := range []struct {
		name, file string
		want       func(config.Config) config.Config
	}{
		{"empty", "", func(c config.Config) config.Config { return c }},
		{"comments", "# nothing\n\n  # here\n", func(c config.Config) config.Config { return c }},
		{"every setting", `
rules: /etc/interlock/rules
profile: supervised
mode: monitoring
unattended: true
production: [prod-*, live]
listen: "off"
allow_remote: true
approval_ttl: 90s
checkpoint_to: [/mnt/other/checkpoint]
code_ttl: 2m
channels: [{kind: console}]
quiet_hours: 22:00-07:00
max_questions: 7
tell_user_after: 5
forget_inputs: true
max_concurrent: 8
`, func(config.Config) config.Config {
			return config.Config{Rules: "/etc/interlock/rules", Profile: "supervised", Mode: interlock.Monitoring, Unattended: true,
				KillConfirm: config.Duration(5 * time.Minute),
				Production:  []string{"prod-*", "live"}, Listen: "off", AllowRemote: true, ApprovalTTL: config.Duration(90 * time.Second),
				CheckpointTo: []string{"/mnt/other/checkpoint"}, CodeTTL: config.Duration(2 * time.Minute),
				Channels: []config.Channel{{Kind: "console"}}, QuietHours: "22:00-07:00", MaxQuestions: 7, TellUserAfter: 5,
				ForgetInputs: true, MaxConcurrent: 8}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := write(t, test.file)
			got, err := config.Load(home, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(withHome(test.want(config.Defaults()), home), got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"unknown setting", "profile: guard\ncolour: red\n", "interlock.yaml:2"},
		{"unknown mode", "mode: relaxed\n", "mode"},
		{"wrong type", "unattended: perhaps\n", "unattended"},
		{"setting twice", "profile: guard\nprofile: asa\n", "interlock.yaml:2"},
		{"duration without unit", "approval_ttl: \"90\"\n", "interlock.yaml:1:1: approval_ttl"},
		{"duration of nothing", "approval_ttl: 0s\n", "interlock.yaml:1:1: approval_ttl"},
		{"no concurrency", "max_concurrent: 0\n", "max_concurrent"},
		{"not YAML", "profile: [guard\n", "interlock.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Load(write(t, test.file), "")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want it to name %s", err, test.want)
			}
		})
	}
	if _, err := config.Load(t.TempDir(), filepath.Join(t.TempDir(), "missing.yaml")); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("a settings file that was named and is missing: %v", err)
	}
}

func TestRulesInHomeAreFound(t *testing.T) {
	home := t.TempDir()
	rules := filepath.Join(home, "rules")
	if err := os.Mkdir(rules, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(home, "")
	if err != nil || c.Rules != rules {
		t.Errorf("rules %q, %v; want %q", c.Rules, err, rules)
	}
}

func TestSocketFitsAnAddress(t *testing.T) {
	short, deep := "/home/dev/.local/share/interlock", "/"+strings.Repeat("deep/", 40)
	if got := config.Socket(short); got != short+"/interlock.sock" {
		t.Errorf("socket of %s: %s", short, got)
	}
	a, b := config.Socket(deep), config.Socket(deep+"er")
	if len(a) > 104 || a == b || strings.HasPrefix(a, deep) {
		t.Errorf("sockets of two deep homes: %s, %s", a, b)
	}
}

func TestDefaultHomeFollowsTheEnvironment(t *testing.T) {
	home, err := config.DefaultHome(func(name string) string { return map[string]string{"INTERLOCK_HOME": "/srv/interlock"}[name] })
	if err != nil || home != "/srv/interlock" {
		t.Errorf("home %q, %v", home, err)
	}
}
