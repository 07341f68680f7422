package embedded

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/kill"
	"interlock/internal/store"
)

// OpenToStop is OpenBrief for a process that stops everything or lets it go on, which rules that can't be used must not stand in the way
// of. A clock that is nil is the system's. What it opens then knows the program's own rules only, declares none and is for nothing else.
func OpenToStop(ctx context.Context, c config.Config, now func() time.Time) (*Backend, error) {
	options := store.Options{Brief: true, Now: now}
	backend, err := open(ctx, c, options, false)
	if !AboutRules(err) {
		return backend, err
	}
	return openToStop(ctx, c, options)
}

func openToStop(ctx context.Context, c config.Config, options store.Options) (*Backend, error) {
	wrong := &tampering{}
	options.Noticed = wrong.notice
	if options.Now == nil {
		options.Now = time.Now
	}
	own := c
	own.Rules, own.Profile = "", config.Defaults().Profile
	made, opened, sealer, err := parts(ctx, own, options)
	if err != nil {
		return nil, err
	}
	verify := identity.Proofs{Attested: sealer.Public().CheckAttestation}.Verify
	if settled, err := settledBy(ctx, c, opened, verify, sealer.Answers().Pin()); err == nil { // a file weakens nothing; and a stop waits for none
		c.Council = settled.Config.Council
	}
	adm, err := admission.New(admission.Config{Evaluator: *made.evaluator, Store: opened, Redact: redactor(c), Hash: hasher(c.Home),
		Verify: proofs(c, sealer), Attest: attest(sealer), Now: options.Now, Random: rand.Reader, Owner: account.Name(), Brief: true,
		Kill: kill.In(c.Home), Log: opened, Council: c.Council.Terms()})
	if err == nil {
		wrong.use(adm.Alarm)
		err = adm.BothKilled(ctx)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return &Backend{Admission: adm, Store: opened, Key: sealer.Public(), Settings: c, Proved: proofs(c, sealer), Attest: attest(sealer),
		Answers: sealer.Answers(), signPrefix: sealer.SignPrefix, tampering: wrong, noticed: &sync.Map{}, verify: verify}, nil
}
