package mace

import (
	"context"
	"time"

	"interlock/internal/conform"
)

func roleChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-ROLE-1"}, Drives: "operators' commands by each role", Do: leastRights},
		{IDs: []string{"MACE-ROLE-2"}, Drives: "operators' commands by keys in files, settings", Do: secondFactor},
		{IDs: []string{"MACE-ROLE-3"}, Drives: "an auditor's commands, clock, log", Do: auditedForATime},
	}
}

func leastRights(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Operator(ctx, "olga", "operator"); err != nil {
		return "", err
	}
	for _, tc := range []struct {
		operator string
		order    []string
	}{
		{"vic", []string{"hold", "pause", "--reason", "x"}}, {"vic", []string{"rules", "suppress", "net.upload", "--for", "1h",
			"--agent", "scout", "--reason", "x"}},
		{"aud", []string{"hold", "pause", "--reason", "x"}}, {"aud", []string{"agent", "add", "mine"}},
		{"c1", []string{"agent", "add", "mine"}}, {"c1", []string{"trust", "promote", "scout", "--evidence", "x"}},
		{"olga", []string{"operator", "revoke", "vic"}},
		{"olga", []string{"hold", "pause", "--reason", "x"}}, {"olga", []string{"privacy", "export", "--subject", "u-1", "--reason",
			"x"}},
	} {
		if err := t.refused(ctx, tc.operator, "role", tc.order...); err != nil {
			return "", err
		}
	}
	return "what is an admin's order is refused to a viewer, an auditor, a council member and an operator, each by their own key",
		nil
}

func auditedForATime(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-audit")
	if err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "adam", "code_upload", "agent:scout", "heron is why")
	if err != nil {
		return "", err
	}
	asked := t.newest(ctx, "ACTION_REQUEST", id)
	_, within := t.Order(ctx, "aud", "audit", "access", asked.ID, "--reason", "the yearly audit")
	access := t.newest(ctx, "admin_access_event", asked.ID)
	t.Pass(100 * 24 * time.Hour)
	after := t.refused(ctx, "aud", "", "audit", "access", asked.ID, "--reason", "once more")
	_, admin := t.Order(ctx, "adam", "audit", "access", asked.ID, "--reason", "a look")
	return "an auditor reads an event whole for ninety days from when they were given the role, which is recorded, and not later: " +
			access.by(),
		conform.First(within, after, admin, access.is("admin_access_event"),
			conform.Unless(access.Actor == "aud", "the event names %s", access.Actor))
}

func secondFactor(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := founded(ctx, d, "mace-factors")
	if err != nil {
		return "", err
	}
	if err := t.Operator(ctx, "olga", "operator"); err != nil {
		return "", err
	}
	id, err := t.asks(ctx, "olga", "code_upload", "agent:scout", "version 5")
	if err != nil {
		return "", err
	}
	t.Down()
	if err := conform.First(t.settings("council: {second_factor: true}\n"), t.Up(ctx)); err != nil {
		return "", err
	}
	const words = "council.second_factor"
	return "an admin, a superadmin and the council give no order and no vote by a key in a file, and roles that govern nothing do", conform.First(
		t.refused(ctx, "ada", words, "hold", "pause", "--reason", "x"), t.refused(ctx, "adam", words, "trust", "promote", "scout", "--evidence", "x"),
		t.refused(ctx, "c1", words, "request", "vote", id, "--approve"), func() error {
			_, err := t.Order(ctx, "olga", "request", "withdraw", id)
			return err
		}())
}
