package embedded

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"interlock"
	"interlock/internal/admission/core"
	admissiongovernance "interlock/internal/admission/governance"
	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/store"
	"interlock/spec"
)

// A retold port tells its newest order of rules otherwise than it stands.
type retold struct {
	store.Port
	was, is string
}

func (r retold) Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	entries, err := r.Port.Entries(ctx, kind, span)
	for n := range entries {
		entries[n].Body = bytes.ReplaceAll(entries[n].Body, []byte(r.was), []byte(r.is))
	}
	return entries, err
}

// governed opens a home in which adam is an admin, and returns what signs for him.
func governed(t *testing.T, home string) (*Backend, *identity.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "adam")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, err := identity.FileSigner(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := Open(t.Context(), Config{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	if err := backend.PutOperator(t.Context(), interlock.OperatorRecord{Name: "adam", Role: quorum.RoleAdmin,
		SSHKey: signer.PublicKey().String(), Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return backend, signer
}

// TestRulesNeedAnOrder: the change of a policy is an order of an admin, and every ruleset has a digest and a snapshot of its own. What was
// ordered is told by an event that the log's key has signed, and by nothing else.
func TestRulesNeedAnOrder(t *testing.T) {
	spec.Covers(t, "MACE-GOV-7")
	home := filepath.Join(t.TempDir(), "home")
	dir := filepath.Join(home, "rules")
	writeRules(t, dir, "team.yaml", noTouching)
	backend, signer := governed(t, home)
	look := func(port store.Port, signing config.Signing) (core.Ordering, error) {
		t.Helper()
		evaluator, err := NewEvaluator(config.Config{Home: home, Rules: dir, Profile: "guard"})
		if err != nil {
			t.Fatal(err)
		}
		err = orderedRules(t.Context(), config.Config{RulesSigned: signing}, port, backend.Key, evaluator)
		return evaluator.Ordered, err
	}
	if o, err := look(backend.Store, config.SigningNoted); err != nil || o.By != core.RulesUnordered {
		t.Fatalf("before anybody ordered them: %+v, %v", o, err)
	}
	if _, err := look(backend.Store, config.SigningRequired); err == nil {
		t.Fatal("an order is required, there is none, and they are in force")
	}

	own, err := UserRules(dir)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := admissiongovernance.DocumentsDigest(admissiongovernance.Documents(own))
	if err != nil {
		t.Fatal(err)
	}
	given := quorum.OfOrder(interlock.Order{ID: "ord_1", Verb: interlock.VerbAdoptRules, Subject: string(backend.Rules().Digest()),
		Detail: string(digest), Reason: "read them", Operator: "adam", At: time.Now().UTC(),
		Expires: time.Now().UTC().Add(time.Minute)}, interlock.Requester{})
	signature, err := signer.SignApproval(rand.Reader, given.Text())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backend.CarryOut(t.Context(), given); err == nil {
		t.Fatal("an order that nobody signed was carried out")
	}
	if _, err := backend.CarryOut(t.Context(), given.Signed(interlock.MethodSSH, signer.PublicKey().Fingerprint(), signature)); err != nil {
		t.Fatal(err)
	}
	for _, signing := range []config.Signing{config.SigningNoted, config.SigningRequired} {
		if o, err := look(backend.Store, signing); err != nil || len(o.By) != 64 || o.Refused != "" {
			t.Errorf("%s, ordered: %+v, %v", signing, o, err)
		}
	}
	writeRules(t, dir, "more.yaml", noPackages)
	if o, err := look(backend.Store, config.SigningNoted); err != nil || o.By != core.RulesUnordered {
		t.Errorf("changed by hand: %+v, %v", o, err)
	}
	if o, err := look(backend.Store, config.SigningRequired); err != nil || o.Refused == "" || len(o.By) != 64 {
		t.Errorf("changed by hand where an order is required: %+v, %v", o, err)
	}

	// whoever can write to the store's file names what is there now as what was ordered
	evaluator, err := NewEvaluator(config.Config{Home: home, Rules: dir, Profile: "guard"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := admissiongovernance.DocumentsDigest(admissiongovernance.Documents(evaluator.Own))
	if err != nil {
		t.Fatal(err)
	}
	forged := retold{backend.Store, string(digest), string(now)}
	if o, err := look(forged, config.SigningNoted); err != nil || o.By != core.RulesUnordered {
		t.Errorf("an order that the key has not signed: %+v, %v", o, err)
	}
	if o, err := look(forged, config.SigningRequired); err == nil {
		t.Errorf("an order that the key has not signed, where one is required: %+v", o)
	}
}
