package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/config"
)

func load(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "interlock.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(home, "")
}

func TestChannelsAreRead(t *testing.T) {
	c, err := load(t, `
code_ttl: 2m
channels:
  - {kind: email, name: mail, floor: danger_zone, always: true, host: "mail.example.com:587", user: u, password: env:P, from: a@example.com, to: [b@example.com]}
  - {kind: console}
`)
	if err != nil {
		t.Fatal(err)
	}
	zone := interlock.TierDangerZone
	want := []config.Channel{{Name: "mail", Kind: "email", Floor: &zone, Always: true, Host: "mail.example.com:587", User: "u", Password: "env:P",
		From: "a@example.com", To: []string{"b@example.com"}}, {Kind: "console"}}
	if diff := cmp.Diff(want, c.Channels); diff != "" || time.Duration(c.CodeTTL) != 2*time.Minute {
		t.Errorf("ttl %v (-want +got):\n%s", c.CodeTTL, diff)
	}
	for text, field := range map[string]string{
		"channels: [{kind: email, color: red}]": "color", "channels: [{floor: high}]": "floor", "max_questions: 0": "max_questions",
		"tell_user_after: 0": "tell_user_after", "tell_user_after: 17": "tell_user_after",
		"quiet_hours: late": "stretch of the day", "quiet_hours: 22:00-22:00": "stretch of the day", "quiet_hours: 22:00-07:00 Mars": "time zone",
	} {
		if _, err := load(t, text+"\n"); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestQuietHours(t *testing.T) {
	for text, want := range map[string]map[string]bool{
		"22:00-07:00 UTC":           {"21:59": false, "22:00": true, "03:00": true, "06:59": true, "07:00": false, "12:00": false},
		"12:00-13:30 UTC":           {"11:59": false, "12:00": true, "13:29": true, "13:30": false},
		"22:00-07:00 Europe/Berlin": {"20:30": false, "21:00": true, "05:59": true, "06:00": false},
	} {
		var h config.Hours
		if err := h.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for at, inside := range want {
			clock, err := time.Parse("2006-01-02 15:04", "2026-11-20 "+at)
			if err != nil {
				t.Fatal(err)
			}
			if h.Contain(clock) != inside {
				t.Errorf("%s holds %s: %v", text, at, !inside)
			}
		}
	}
	if config.Hours("").Contain(time.Now()) {
		t.Error("no hours hold a time")
	}
}
