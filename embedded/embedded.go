// Package embedded opens a complete Interlock in a directory: rules, analysis, engine and the durable, signed log, without
// a server. It is the backend for [interlock.New], and what the commands of the binary run on.
//
//	backend, err := embedded.Open(ctx, embedded.Config{Home: dir})
//	guard, err := interlock.New(interlock.Config{Backend: backend, Requester: interlock.Requester{Agent: "my-agent"}})
//
// Several processes may open the same directory at once. Start with Open; view.go gathers what the analysis may know of
// the world, keys.go looks after the log's key pair.
package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/dataflow"
	"interlock/internal/fileio"
	"interlock/internal/identity"
	"interlock/internal/impact"
	"interlock/internal/impact/know"
	"interlock/internal/kill"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/rollback"
	"interlock/internal/ruleset"
	"interlock/internal/store"
	"interlock/internal/strictyaml"
	"interlock/internal/witness"
	"interlock/rules"
)

// Config says where and how. Only Home is required.
type Config struct {
	Home       string         // directory of the store and the keys; created for its owner alone
	Rules      string         // directory of rules to add to the defaults; empty: none
	Profile    string         // base verdicts; empty: guard
	Mode       interlock.Mode // zero: enforcing
	Unattended bool           // nobody is there to answer: an Ask is answered Deny with a request id
	Production []string       // globs of names that are production

	Now func() time.Time // the clock that what is decided is dated by, for demonstrations; default: time.Now
}

// A Backend is an open Interlock. It is safe for concurrent use.
type Backend struct {
	*admission.Admission
	Store    *store.Store
	Key      *auditlog.PublicKey
	Settings config.Config

	// Proved checks what proves an operator's words; Verify is admission's answer to a challenge.
	Proved func(operator interlock.OperatorRecord, method, statement, signature string) (key string, err error)
	// Attest signs, as the server, that a statement was made: by a console session or with a code, whose id is the subject.
	// The caller must have seen it made.
	Attest func(method, subject, statement string) (signature string, err error)

	// Answers is the key under which this process answers hooks as the home's server.
	Answers witness.Key

	// Settled says which of the settings it was opened under have no effect, and who ordered those that have.
	Settled Settled

	alerts     *alerts // nil in a brief process
	signPrefix func(auditlog.Checkpoint) ([]byte, error)
	tampering  *tampering
	noticed    *sync.Map // what [Backend.CheckStanding] has told
	verify     quorum.Verifier
	judging    *judging
}

// Close ends the backend, after people were told what they are still to be told.
func (b *Backend) Close() error {
	b.judging.stop()
	if b.alerts != nil {
		b.alerts.close()
	}
	return b.Admission.Close()
}

// Tell takes an alert to people that another process has recorded.
func (b *Backend) Tell(kind, message string) {
	if b.alerts != nil {
		b.alerts.raise(kind, message)
	}
}

var (
	_ interlock.Backend = (*Backend)(nil)
	_ interlock.Runs    = (*Backend)(nil)
	_ interlock.Plans   = (*Backend)(nil)
)

// Open opens or creates an Interlock in a directory.
func Open(ctx context.Context, c Config) (*Backend, error) {
	if c.Home == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "Home", "is missing; name the directory of store and keys")
	}
	settings, err := config.Load(c.Home, "")
	if err != nil {
		return nil, err
	}
	if c.Rules != "" {
		settings.Rules = c.Rules
	}
	if c.Profile != "" {
		settings.Profile = c.Profile
	}
	if c.Mode != interlock.Enforcing {
		settings.Mode = c.Mode
	}
	settings.Unattended = settings.Unattended || c.Unattended
	settings.Production = append(settings.Production, c.Production...)
	return open(ctx, settings, store.Options{Needs: needs(settings), Now: c.Now}, false)
}

// OpenConfig opens an Interlock under complete settings.
func OpenConfig(ctx context.Context, c config.Config) (*Backend, error) {
	return open(ctx, c, store.Options{Needs: needs(c)}, false)
}

// needs are the parts of a store that settings ask for.
func needs(c config.Config) []store.Part {
	if c.ArchiveAfter > 0 {
		return []store.Part{store.PartArchiving}
	}
	return nil
}

// OpenBrief is OpenConfig for a process that makes a few decisions and exits, such as a hook.
func OpenBrief(ctx context.Context, c config.Config) (*Backend, error) {
	return open(ctx, c, store.Options{Brief: true}, false)
}

// OpenClocked is OpenConfig, or where brief OpenBrief, with another clock than the machine's. It is for what drives a throw-away home
// through times that nobody waits for; no setting, flag or variable leads here.
func OpenClocked(ctx context.Context, c config.Config, brief bool, now func() time.Time) (*Backend, error) {
	options := store.Options{Brief: brief, Now: now}
	if !brief {
		options.Needs = needs(c)
	}
	return open(ctx, c, options, false)
}

// OpenToOrder is OpenBrief for a process that is to have settings ordered: nobody is told that they are not.
func OpenToOrder(ctx context.Context, c config.Config) (*Backend, error) {
	return open(ctx, c, store.Options{Brief: true}, true)
}

// OpenToAdopt is OpenBrief for a process that is to have rules ordered, or that shows what an order would be about: it goes by what is
// in the rules directory, where the settings don't want an order for that. A clock that is nil is the system's.
func OpenToAdopt(ctx context.Context, c config.Config, now func() time.Time) (*Backend, error) {
	return open(ctx, c, store.Options{Brief: true, Now: now}, false, asWritten)
}

// asWritten says that rules that nobody ordered are looked at as if somebody had.
const asWritten = true

func open(ctx context.Context, c config.Config, options store.Options, quietly bool, written ...bool) (*Backend, error) {
	if !options.Brief { // channels that can't be used leave no store behind
		if _, err := Channels(c); err != nil {
			return nil, err
		}
	}
	wrong := &tampering{}
	options.Noticed = wrong.notice
	if options.Now == nil {
		options.Now = time.Now
	}
	made, opened, sealer, err := parts(ctx, c, options)
	if err != nil {
		return nil, err
	}
	verify := identity.Proofs{Attested: sealer.Public().CheckAttestation}.Verify
	settled, err := settledBy(ctx, c, opened, verify, sealer.Answers().Pin())
	if err != nil {
		opened.Close()
		return nil, err
	}
	if len(settled.Refused) > 0 {
		if made, err = decidingOf(settled.Config, options); err != nil {
			opened.Close()
			return nil, rulesError{err}
		}
	}
	c = settled.Config
	orders := func(ctx context.Context, e *admission.Evaluator) error {
		return orderedRules(ctx, c, opened, sealer.Public(), e, written...)
	}
	if err := orders(ctx, made.evaluator); err != nil {
		opened.Close()
		return nil, rulesError{err}
	}
	channels, told, err := telling(c, options)
	if err != nil {
		opened.Close()
		return nil, err
	}
	var raise func(kind, message string)
	if told != nil {
		raise = told.raise
	}
	judging, err := judgesOf(ctx, c, made.evaluator, options, groundOrders{c, opened, sealer.Public()})
	if err != nil {
		opened.Close()
		return nil, err
	}
	adm, err := admission.New(admission.Config{
		Evaluator:    *made.evaluator,
		Store:        opened,
		Redact:       redactor(c),
		Hash:         hasher(c.Home),
		People:       personalKeys{c.Home},
		Verify:       proofs(c, sealer),
		Attest:       attest(sealer),
		Notify:       channels,
		Now:          options.Now,
		Random:       rand.Reader,
		Owner:        account.Name(),
		ApprovalTTL:  time.Duration(c.ApprovalTTL),
		CodeTTL:      time.Duration(c.CodeTTL),
		Council:      c.Council.Terms(),
		Memory:       memoryTerms(c.Memory),
		MaxQuestions: c.MaxQuestions, TellUserAfter: c.TellUserAfter,
		Alert:        raise,
		Record:       settled.record(Recorder(c)),
		Settings:     settingsKnown(c.Home),
		Renew:        made.renew,
		OrderRules:   orders,
		Candidate:    candidate,
		LastOrdered:  lastOrdered(opened, sealer.Public()),
		Brief:        options.Brief,
		Kill:         kill.In(c.Home),
		KillOn:       c.KillOn,
		KillConfirm:  time.Duration(c.KillConfirm),
		Log:          opened,
		Planner:      planner(opened),
		Judges:       judging.judges(),
		JudgeWhen:    core.JudgeWhen(c.Judge.When),
		JudgeWithin:  c.Judge.Remembered(),
		JudgeBudgets: judging.budgets,
		JudgeLater: core.JudgeLater{After: c.Judge.After, Sample: c.Judge.Sample, Most: c.Judge.MostOwed(),
			Within: c.Judge.AnswerWithin()},
		Grounds:     groundsWith,
		JudgeModels: judging.models(),
		Unfinished: func(ctx context.Context, since time.Time) ([]auditlog.Unfinished, error) {
			return auditlog.UnfinishedSince(ctx, opened, since)
		},
		Said: func(ctx context.Context) ([]ledger.Row, error) { return SaidOf(ctx, opened) },
	})
	if err == nil {
		wrong.use(adm.Alarm)
		err = adm.Start(ctx)
	}
	if err == nil {
		err = judging.start(ctx, adm, options.Brief)
	}
	if err == nil && len(settled.Refused) > 0 && !quietly {
		_, err = adm.RefuseSettings(ctx, settled.Says())
	}
	if err == nil && !options.Brief {
		err = holdBroken(ctx, adm, heldSnapshots(ctx, opened))
	}
	if err != nil {
		judging.stop()
		if told != nil {
			told.close()
		}
		opened.Close()
		return nil, err
	}
	return &Backend{judging: judging, Admission: adm, Store: opened, Key: sealer.Public(), Settings: c, Proved: proofs(c, sealer), Attest: attest(sealer),
		Settled: settled, Answers: sealer.Answers(), alerts: told, signPrefix: sealer.SignPrefix,
		tampering: wrong, noticed: &sync.Map{}, verify: verify}, nil
}

// telling makes the channels to people, and what takes alerts to them. A process that ends at once has none: it opens no challenge and
// waits for nobody's mail.
func telling(c config.Config, options store.Options) (admission.Notifier, *alerts, error) {
	if options.Brief {
		return nil, nil, nil
	}
	channels, err := Channels(c)
	if err != nil {
		return nil, nil, err
	}
	return channels, newAlerts(channels, time.Now), nil
}

// attest makes the signature field of what this process saw an operator, or the holder of a code, say.
func attest(sealer *auditlog.Sealer) func(method, subject, statement string) (string, error) {
	return func(method, subject, statement string) (string, error) {
		return identity.Attestation(method, subject, statement, sealer.Attest)
	}
}

// parts makes what decides and opens what records. In a brief process both go on at once, because an agent waits for it to
// start; where it lasts, rules that can't be read leave no store behind.
func parts(ctx context.Context, c config.Config, options store.Options) (deciding, *store.Store, *auditlog.Sealer, error) {
	var made deciding
	var unread error
	var reading sync.WaitGroup
	reading.Go(func() {
		defer func() { // nobody else could catch it here, and the agent must get its refusal
			if r := recover(); r != nil {
				unread = fmt.Errorf("reading the rules: panic: %v", r)
			}
		}()
		made, unread = decidingOf(c, options)
	})
	if !options.Brief {
		reading.Wait()
		if unread != nil {
			return made, nil, nil, rulesError{unread}
		}
	}
	opened, sealer, err := openStore(ctx, c.Home, options)
	reading.Wait()
	if unread != nil && err == nil {
		opened.Close()
	}
	if unread != nil {
		return made, nil, nil, rulesError{unread}
	}
	return made, opened, sealer, err
}

// deciding is what decides, with what its rules were made from. Where a process lasts, they are looked at again.
type deciding struct {
	evaluator *admission.Evaluator
	renew     func() admission.Renewal
}

func decidingOf(c config.Config, options store.Options) (d deciding, err error) {
	var own *ownRules
	if !options.Brief {
		own = newOwnRules(c) // before they are read: what changes meanwhile is seen at the first look
		d.renew = own.Renewal
	}
	documents, err := UserRules(c.Rules)
	if err != nil {
		return d, err
	}
	if d.evaluator, err = evaluatorOf(c, documents); err == nil && own != nil {
		own.begin(documents, d.evaluator.Rules)
	}
	return d, err
}

// A rulesError says that the rules are what a backend could not be made of.
type rulesError struct{ error }

func (e rulesError) Unwrap() error { return e.error }

// AboutRules reports whether a backend could not be opened because of the rules, and not of the store.
func AboutRules(err error) bool { return errors.As(err, new(rulesError)) }

// openStore prepares the home and opens the store with the key that signs its log. The public key is written once there is a
// store, so that where it lies beside its private half and no log is found, the log was taken away. It is looked for first:
// another process may be making all of them now.
func openStore(ctx context.Context, home string, options store.Options) (*store.Store, *auditlog.Sealer, error) {
	if err := prepareHome(home); err != nil {
		return nil, nil, err
	}
	published, _ := fileio.Plain(PublicKeyPath(home), maxKey) // none: nothing was begun
	sealer, err := logSigner(home, store.Exists(home))
	if err != nil {
		return nil, nil, err
	}
	options.Sealer = sealer
	options.Begun = strings.TrimSpace(string(published)) == sealer.Public().String()
	opened, err := store.Open(home, options)
	if err != nil {
		return nil, nil, err
	}
	if err := publish(home, sealer.Public()); err != nil {
		opened.Close()
		return nil, nil, err
	}
	return opened, sealer, nil
}

// NewEvaluator builds everything that decides from the default rules and the user's, without opening a store.
func NewEvaluator(c config.Config) (*admission.Evaluator, error) {
	user, err := UserRules(c.Rules)
	if err != nil {
		return nil, err
	}
	return evaluatorOf(c, user)
}

// evaluatorOf is NewEvaluator of rules that have been read.
func evaluatorOf(c config.Config, user map[string][]byte) (*admission.Evaluator, error) {
	defaults := rules.Defaults()
	know, err := know.Parse(defaults)
	if err != nil {
		return nil, fmt.Errorf("reading command knowledge: %w", err)
	}
	set, err := ruleset.LoadShipped(defaults, rules.Sums(), user)
	if err != nil {
		return nil, err
	}
	if err := knownProfile(c, set); err != nil {
		return nil, err
	}
	return &admission.Evaluator{Rules: set, Analyser: impact.NewAnalyser(know), Mode: c.Mode, Profile: c.Profile,
		Attended: !c.Unattended, Quiet: c.QuietHours.Contain, Own: user, Texts: classify.NewLibrary(defaults["safety.yaml"])}, nil
}

// knownProfile refuses rules that do not have the profile that is to be in force.
func knownProfile(c config.Config, set *ruleset.Ruleset) error {
	if _, known := set.Profile(c.Profile); !known {
		return interlock.Errorf(interlock.CodeInvalid, "profile", "%.40q is not a profile; name one of %s", c.Profile,
			strings.Join(set.Profiles(), ", "))
	}
	return nil
}

// candidate makes the ruleset that an operator's documents and this program's own rules are.
func candidate(documents map[string][]byte) (*ruleset.Ruleset, error) {
	return ruleset.LoadShipped(rules.Defaults(), rules.Sums(), documents)
}

// maxRules bounds the files of a rules directory together, in bytes.
const maxRules = 16 << 20

// UserRules reads the YAML files of a rules directory, or of the one that is taking its place, by path relative to it. An empty dir
// is none. What can't be read is an error, and so is what would be passed over: rules that are not there object to nothing.
func UserRules(dir string) (map[string][]byte, error) {
	if dir == "" {
		return nil, nil
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(dir + promoted); err == nil && info.IsDir() {
			dir += promoted // it is being replaced, or that was broken off
		}
	}
	unreadable := func(err error) error {
		return interlock.Errorf(interlock.CodeInvalid, "--rules", "the rules directory can't be read: %s", fileio.Reason(err))
	}
	root, err := filepath.EvalSymlinks(dir) // a walk follows no links
	if err != nil {
		return nil, unreadable(err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--rules", "the rules directory is no directory that can be read")
	}
	documents, total := map[string][]byte{}, 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(err)
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				return interlock.Errorf(interlock.CodeInvalid, "--rules",
					"%.60q in the rules directory is a link to a directory, or to nothing; put what it names there itself", entry.Name())
			}
		}
		if entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".yml" {
			return nil
		}
		text, err := fileio.Own(path, strictyaml.MaxBytes, fileio.Settled)
		if err != nil {
			return interlock.Errorf(interlock.CodeInvalid, "--rules", "%s can't be read: %s", entry.Name(), fileio.Reason(err))
		}
		if total += len(text); total > maxRules {
			return interlock.Errorf(interlock.CodeInvalid, "--rules", "the rules directory holds more than %d bytes", maxRules)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			name = entry.Name()
		}
		documents[filepath.ToSlash(name)] = text
		return nil
	})
	return documents, err
}

// planner works out from the log what has to be undone.
func planner(log *store.Store) core.Planner {
	return func(ctx context.Context, seed dataflow.Seed, size int64, rules *ruleset.Ruleset) (rollback.Plan, error) {
		return rollback.Read(func(visit func(interlock.Entry) error) error { return log.Walk(ctx, visit) }, size, seed, rules)
	}
}
