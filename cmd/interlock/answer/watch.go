package answer

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/notify"
	"interlock/internal/quorum"
)

type WatchCommand struct {
	As    string `help:"Watch as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key   string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE"`
	Codes bool   `help:"Show a code for every challenge whose code was sent nowhere else."`
	Once  bool   `help:"Show what waits now and end."`
}

// Help is what `interlock watch --help` adds.
func (WatchCommand) Help() string {
	return "Shows requests, pauses and blocks as they arise, on an operator's terminal, until it is interrupted. With --codes it has a\n" +
		"code issued for each challenge by an order that the operator's key signs; so whoever can merely open the store or the socket,\n" +
		"as an agent of the same user can, sees no code. A channel of kind terminal in the settings says that somebody watches here."
}

// watchEvery is how soon what arises in another process is shown.
const watchEvery = 500 * time.Millisecond

// Run watches until it is interrupted.
func (c *WatchCommand) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(p.Ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settings = backend.Settings // those that are in force
	w, err := c.watcher(p, backend, settings)
	if err != nil {
		return err
	}
	defer w.signer.Close()
	if c.Once {
		return unlessOver(p.Ctx, w.look(p.Ctx))
	}
	what := ledger.Watch{Kinds: []string{ledger.Request, ledger.Challenge}, Within: watchEvery}
	return unlessOver(p.Ctx, core.Follow(p.Ctx, backend, what, w.look))
}

// unlessOver is an error that did not come of its context's end.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A watcher shows what is new to it.
type watcher struct {
	*cli.Program
	backend  *embedded.Backend
	signer   *identity.Signer
	operator string
	weak     string // what the key lacks to prove a person
	codes    bool
	standing map[string]bool // names of channels to which nothing is sent
	seen     map[string]bool
}

// watcher proves who watches before anything is shown: the operator's key is asked for once.
func (c *WatchCommand) watcher(p *cli.Program, backend *embedded.Backend, settings config.Config) (*watcher, error) {
	if err := p.Person(backend, "watch"); err != nil {
		return nil, err
	}
	standing, err := p.Standing(backend)
	if err != nil {
		return nil, err
	}
	answer := cli.OrderFlags{As: c.As, Key: c.Key}
	signer, name, err := answer.Operator(p, standing, "in office")
	if err != nil {
		return nil, err
	}
	weak, err := p.Proves(backend, signer)
	if err != nil {
		signer.Close()
		return nil, err
	}
	may := quorum.OfOrder(interlock.Order{Verb: interlock.VerbNewCode}, interlock.Requester{})
	if err := may.MayGive(standing.Operators[name], standing.Agents, cli.Now()); err != nil {
		signer.Close()
		return nil, err
	}
	w := &watcher{Program: p, backend: backend, signer: signer, operator: name, weak: weak, codes: c.Codes, standing: map[string]bool{},
		seen: map[string]bool{}}
	for _, channel := range settings.Channels {
		if channel.Kind == notify.KindConsole || channel.Kind == notify.KindTerminal {
			w.standing[channel.Kind], w.standing[channel.Name] = true, true
		}
	}
	fmt.Fprintf(p.Stdout, "watching as %s\n", name)
	return w, nil
}

// look shows what has arisen since the last time.
func (w *watcher) look(context.Context) error {
	requests, err := w.backend.Requests(w.Ctx, 0)
	if err != nil {
		return err
	}
	for _, r := range requests.Rows {
		if r.Waits(cli.Now()) && w.first(r.ID) {
			fmt.Fprintf(w.Stdout, "\n%s waits: %s: %s\n  %s\n%s\n", cli.Printable(r.Requester.Agent), r.ID, cli.Printable(r.Reason),
				cli.Brief(r.Display), w.Printed("answer with: interlock approve "+r.ID+"   or   interlock deny "+r.ID))
		}
	}
	standing, err := w.backend.Challenges(w.Ctx, 0)
	if err != nil {
		return err
	}
	challenges := standing.Rows
	sort.Slice(challenges, func(i, j int) bool { return challenges[i].Created.Before(challenges[j].Created) })
	for _, c := range challenges {
		if !w.first(c.ID) {
			continue
		}
		what := "pauses until a code is given"
		if c.Kind == interlock.ChallengeBlock {
			what = "is BLOCKED"
		}
		fmt.Fprintf(w.Stdout, "\n%s %s\n", cli.Printable(c.Requester.Agent), what)
		if err := printChallenge(w.Stdout, c); err != nil {
			return err
		}
		if err := w.show(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) first(id string) bool {
	if w.seen[id] {
		return false
	}
	w.seen[id] = true
	return true
}

// show has a code issued, unless one is on its way to somebody else, whose code it would replace.
func (w *watcher) show(c interlock.Challenge) error {
	if !w.codes || w.elsewhere(c) {
		fmt.Fprintln(w.Stdout, w.Printed("have a code shown with: interlock block code "+c.ID))
		return nil
	}
	given, err := cli.NewOrder(interlock.VerbNewCode, c.ID, "", "shown on the terminal of "+w.operator, c.Requester)
	if err != nil {
		return err
	}
	if given, err = cli.SignWith(w.signer, given.By(w.operator).Marked(w.weak)); err != nil {
		return err
	}
	done, err := w.backend.CarryOut(w.Ctx, given)
	var refusal *interlock.Error
	if errors.As(err, &refusal) { // of this challenge; the next may be another matter
		fmt.Fprintf(w.Stdout, "no code: %s\n", cli.Printable(refusal.Message))
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "code: %s\ncounts once, until %s\n", done.Code, done.Expires.Local().Format("15:04:05"))
	return nil
}

// elsewhere reports whether a code was sent to somebody.
func (w *watcher) elsewhere(c interlock.Challenge) bool {
	for _, name := range c.Channels {
		if !w.standing[name] && !strings.HasPrefix(name, "operator ") {
			return true
		}
	}
	return false
}
