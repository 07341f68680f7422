package config_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/config"
)

func TestCouncilSettings(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"council: {}", ""},
		{"council: {quorum: 2, vote_window: 1h, request_timeout: 1h, approval_wait: 30m, review_window: 2h, governs: true}", ""},
		{"council: {quorum: 1}", "council.quorum"},
		{"council: {quorum: 26}", "council.quorum"},
		{"council: {vote_window: 73h}", "council.request_timeout"},
		{"council: {request_timeout: 23h}", "council.request_timeout"},
		{"council: {approval_wait: 72h}", "council.approval_wait"},
		{"council: {review_window: 1s}", "council.review_window"},
		{"council: {audit_window: 1m}", "council.audit_window"},
		{"council: {members: 5}", "members"},
	} {
		_, err := config.Load(write(t, c.file+"\n"), "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.file, err, c.want)
		}
	}
	got, err := config.Load(write(t, "council: {quorum: 4}\n"), "")
	want := interlock.CouncilTerms{Quorum: 4, Window: 24 * time.Hour, Timeout: 72 * time.Hour, Wait: 24 * time.Hour, Review: 72 * time.Hour, Audit: 90 * 24 * time.Hour}
	if err != nil || got.Council.Terms() != want {
		t.Errorf("%+v, %v", got.Council.Terms(), err)
	}
}

func TestMemorySettings(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"memory: {}", ""},
		{"memory: {enabled: true, shared: [project, team_a], ttl: 1h, facts: 5}", ""},
		{"memory: {ttl: 1s}", "memory.ttl"},
		{"memory: {ttl: 9000h}", "memory.ttl"},
		{"memory: {facts: -1}", "memory.facts"},
		{"memory: {facts: 10001}", "memory.facts"},
		{"memory: {shared: [Project]}", "memory.shared"},
		{"memory: {shared: [a/b]}", "memory.shared"},
	} {
		_, err := config.Load(write(t, c.file+"\n"), "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.file, err, c.want)
		}
	}
	if m := (config.Memory{}); m.Lives() != 720*time.Hour || m.Most() != 10_000 || m.Enabled {
		t.Errorf("where nothing is set: %s, %d, %v", m.Lives(), m.Most(), m.Enabled)
	}
}
