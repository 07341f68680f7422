package main

import (
	"fmt"
	"path/filepath"
	"time"

	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/config"
)

// verify measures the offline check of the log that the HTTP measurement left behind: every entry read, hashed and held
// against the signed head.
func verify(b *bench) error {
	settings, err := config.Load(filepath.Join(b.scratch, "http"), "")
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(b.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	head, err := backend.Store.Head(b.ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	report, err := auditlog.Verify(b.ctx, backend.Store, backend.Key, auditlog.VerifyOptions{})
	if err != nil {
		return err
	}
	if report.Problem != nil {
		return fmt.Errorf("the log of the measurement does not verify: %w", report.Problem)
	}
	took := time.Since(start)
	fmt.Fprintf(b.out, "\n## Verifying the log\n\n%d entries in %.1f s: %.0f entries/s. Budget: >= 100,000 entries/s "+
		"on one core.\n", head.Size, took.Seconds(), float64(head.Size)/took.Seconds())
	return nil
}
