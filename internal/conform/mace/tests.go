package mace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/conform"
)

func testChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-9.1-1"}, Drives: "interlock ci", Do: regressions},
		{IDs: []string{"MACE-9.2-1", "MACE-9.2-2", "MACE-12-10"}, Drives: "interlock redteam, log", Do: redTeam},
	}
}

func regressions(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.leave("governance:\n  - {case: our operators lift blocks, order: {verb: unblock, by: operator, subject: c1}, want: counts}\n"); err != nil {
		return "", err
	}
	sound, wrong := t.CLI(ctx, "", "ci", "--since", "1m"), t.CLI(ctx, "", "--rules", t.Work+"/other", "ci", "--since", "1m")
	return "the regressions of rules and of who may govern what pass here, and a change that breaks one fails", conform.First(
		conform.Unless(sound.Code == 0 && strings.Contains(sound.Out, "the rules pass") && strings.Contains(sound.Out, "governance"),
			"%s", sound.Out+sound.Err),
		conform.Unless(wrong.Code == 1 && strings.Contains(wrong.Out, "the rules do not pass"), "a broken change ends with %d: %s",
			wrong.Code,
			wrong.Out+wrong.Err))
}

func redTeam(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	one, two := t.CLI(ctx, "", "redteam", "run", "--seed", "7", "--cases", "35", "--json"), t.CLI(ctx, "", "redteam", "run",
		"--seed", "7", "--cases",
		"35", "--json")
	report := t.newest(ctx, "REDTEAM_REPORT", `"seed":"7"`)
	again := t.CLI(ctx, "", "redteam", "run", "--seed", "7", "--case", "0")
	return "one seed makes the same attacks again, each can be tried by its number, and the run is recorded: " + report.by(),
		conform.First(
			report.is("REDTEAM_REPORT"), conform.Unless(one.Out != "" && one.Out == two.Out, "two runs of one seed differ"),
			conform.Unless(strings.HasPrefix(again.Out, "seed 7, case 0"), "case 0 is %s", again.Out+again.Err))
}

// leave writes a rules directory beside the workspace.
func (t town) leave(text string) error {
	dir := filepath.Join(t.Work, "other")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "people.yaml"), []byte(text), 0o600))
}
