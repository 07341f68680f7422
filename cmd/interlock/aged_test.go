package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/store"
)

// cmdAged makes decisions of the past: aged AGO N RUN makes N of them, as long ago as a Go duration says, in a home that it makes
// if there is none.
func cmdAged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: aged AGO N RUN")
	}
	ago, err := time.ParseDuration(args[0])
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(aged(context.Background(), ts.Getenv("INTERLOCK_HOME"), time.Now().Add(-ago), n, args[2]))
}

// aged makes n decisions at a time.
func aged(ctx context.Context, home string, at time.Time, n int, run string) error {
	return inHome(ctx, home, at, embedded.Revision(), func(a *admission.Admission) error {
		for i := range n {
			answer := a.Propose(ctx, interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell,
				Input: fmt.Sprint("cat notes-", i, ".txt"), Dir: "/repo"}, View: interlock.View{Workspace: "/repo"},
				Requester: interlock.Requester{Agent: "claude", Run: run, Call: fmt.Sprint(run, "-", i)}, Door: "test"})
			if answer.Answer != interlock.Allow {
				return fmt.Errorf("decision %d is %v", i, answer.Answer)
			}
		}
		return nil
	})
}

// inHome has something decided in a home, which it makes if there is none, at a time and by an analyser of a name.
func inHome(ctx context.Context, home string, at time.Time, analyser string, do func(*admission.Admission) error) error {
	c, err := config.Load(home, "")
	if err != nil {
		return err
	}
	keyFile := filepath.Join(home, "log.key")
	private, err := os.ReadFile(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		var made string
		if made, _, err = auditlog.GenerateKey(rand.Reader); err != nil {
			return err
		}
		private = []byte(made + "\n")
		if err = os.MkdirAll(home, 0o700); err == nil {
			err = os.WriteFile(keyFile, private, 0o600)
		}
	}
	if err != nil {
		return err
	}
	sealer, err := auditlog.NewSealer(string(private))
	if err != nil {
		return err
	}
	clock := func() time.Time { return at }
	store, err := store.Open(home, store.Options{Sealer: sealer, Brief: true, Now: clock})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := os.WriteFile(embedded.PublicKeyPath(home), []byte(sealer.Public().String()+"\n"), 0o600); err != nil {
		return err
	}
	evaluator, err := embedded.NewEvaluator(c)
	if err != nil {
		return err
	}
	record := embedded.Recorder(c)
	record.Analyser = analyser
	a, err := admission.New(admission.Config{Evaluator: *evaluator, Store: store, Redact: classify.Redact,
		Verify: identity.Proofs{Attested: sealer.Public().CheckAttestation}.Verify, Now: clock, Random: rand.Reader,
		ApprovalTTL: time.Duration(c.ApprovalTTL), CodeTTL: time.Duration(c.CodeTTL), MaxQuestions: c.MaxQuestions,
		Record: record})
	if err == nil {
		err = a.Start(ctx)
	}
	if err != nil {
		return err
	}
	return do(a)
}
