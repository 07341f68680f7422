package conform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
)

func logChecks() []Check {
	return []Check{
		{IDs: []string{"EC-L-1"}, Drives: "HTTP API, log", Do: loud},
		{IDs: []string{"EC-L-2"}, Drives: "interlock audit verify over a log and over copies that were changed", Do: tamperEvident},
	}
}

func loud(ctx context.Context, d *Driver) (string, error) {
	h, err := atWork(ctx, d)
	if err != nil {
		return "", err
	}
	passes, err := h.Expect(ctx, "worker", Shell("cat loud.txt"), "allow")
	if err != nil {
		return "", err
	}
	blocked, err := h.Expect(ctx, "worker", Shell("rm -rf /etc"), "deny")
	if err != nil {
		return "", err
	}
	one, other := h.Event(ctx, passes.Event), h.Event(ctx, blocked.Event)
	for _, member := range []string{`"event_type"`, `"worker"`, `"digest"`, `"input"`} {
		if strings.Contains(one, member) && !strings.Contains(other, member) {
			return "", fmt.Errorf("the event of what was blocked lacks %s", member)
		}
	}
	return "what was blocked leaves an event as whole as what passed, with its input",
		Unless(strings.Contains(other, "rm -rf /etc"), "the log does not hold what was tried")
}

func tamperEvident(ctx context.Context, d *Driver) (string, error) {
	h, err := d.House(ctx, Plan{Name: "log"})
	if err != nil {
		return "", err
	}
	if err := h.Agents(ctx, "writer"); err != nil {
		return "", err
	}
	for n := range 5 {
		if _, err := h.Expect(ctx, "writer", Shell(fmt.Sprint("cat page-", n)), "allow"); err != nil {
			return "", err
		}
	}
	h.Down()
	cut := filepath.Join(filepath.Dir(h.Home), "cut")
	if err := copyDir(cut, h.Home); err != nil {
		return "", err
	}
	if err := h.Up(ctx); err != nil {
		return "", err
	}
	if _, err := h.Expect(ctx, "writer", Shell("cat the-last-page"), "allow"); err != nil {
		return "", err
	}
	newest := h.Call(ctx, "writer", "GET", "/v1/checkpoint", nil)
	kept := filepath.Join(filepath.Dir(h.Home), "checkpoint")
	h.Down()
	changed := filepath.Join(filepath.Dir(h.Home), "changed")
	if err := First(os.WriteFile(kept, []byte(newest.Text), 0o600), copyDir(changed, h.Home), spoil(changed)); err != nil {
		return "", err
	}
	sound := h.CLI(ctx, "", "audit", "verify", "--checkpoint", kept)
	shorter := h.CLI(ctx, "", "--home", cut, "audit", "verify", "--checkpoint", kept)
	other := h.CLI(ctx, "", "--home", changed, "audit", "verify")
	return "the log verifies; a copy that was cut back is known by a checkpoint kept elsewhere, and one with changed bytes is refused", First(
		Unless(sound.Code == 0, "the log itself does not verify: %s", sound.Out+sound.Err),
		Unless(shorter.Code != 0, "a log that was cut back verifies: %s", shorter.Out),
		Unless(other.Code != 0, "a log with changed bytes verifies: %s", other.Out))
}

// copyDir copies the plain files of a directory.
func copyDir(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := fileio.Plain(path, maxFile)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}

// spoil changes a byte in every page of a home's store but the first.
func spoil(home string) error {
	stores, err := filepath.Glob(filepath.Join(home, "*.db"))
	if err != nil || len(stores) == 0 {
		return errors.Join(err, Unless(len(stores) > 0, "the home holds no store"))
	}
	for _, path := range stores {
		text, err := fileio.Plain(path, maxFile)
		if err != nil {
			return err
		}
		const page = 4096
		for at := page + page/2; at < len(text); at += page {
			text[at] ^= 1
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
