package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/judge"
	"interlock/internal/notice"
	"interlock/internal/question"
	"interlock/internal/sandbox"
	"interlock/internal/upstream"
)

// maxAuthorities bounds the file of authorities, in bytes.
const maxAuthorities = 1 << 20

// A Judging is what judges are made with besides the settings.
type Judging struct {
	Ground judge.Ground
	Getenv func(string) string // for references to the environment; nil: os.Getenv
	Now    func() time.Time
	Tested func(judge.Trial) // hears of every canary; nil: nobody does
}

// Judges are the judges that the settings name, each ready to be asked, or what is wrong with one. Nobody tests them by a schedule unless
// [judge.Client.Keep] is called: then the first to ask does.
func Judges(settings config.Config, with Judging) ([]*judge.Client, error) {
	if with.Getenv == nil {
		with.Getenv = os.Getenv
	}
	reasoning := reasoningKeys(with.Getenv, settings.Judge)
	var clients []*judge.Client
	for _, m := range settings.Judge.Judges {
		c, err := with.config(settings, m.Filled(), reasoning)
		if err == nil {
			c.Ground, c.Canary.Tested = with.Ground, with.Tested
			var made *judge.Client
			if made, err = judge.New(c); err == nil {
				clients = append(clients, made)
				continue
			}
		}
		if known := (*interlock.Error)(nil); errors.As(err, &known) {
			return nil, interlock.Errorf(known.Code, "judge.judges."+m.Name+"."+known.Field, "%s", known.Message)
		}
		return nil, err
	}
	return clients, nil
}

// reasoningKeys are the credentials that agents reason with, as far as this process can follow their references: many it can't, and
// for those the references are compared.
func reasoningKeys(getenv func(string) string, set config.Judge) []notice.Secret {
	var found []notice.Secret
	for _, r := range set.Reasoning {
		if key, err := upstream.Secret(getenv, "key", r.Key); r.Key != "" && err == nil {
			found = append(found, key)
		}
	}
	return found
}

// config is one judge as package judge takes it, but for what all judges share.
func (with *Judging) config(settings config.Config, m config.JudgeModel, reasoning []notice.Secret) (judge.Config, error) {
	c := judge.Config{Name: m.Name, Wire: judge.Wire(m.Wire), URL: m.URL, Command: m.Command, Model: m.Model, AnswersAs: m.AnswersAs,
		Seed: m.Seed, Omit: m.Omit, Timeout: time.Duration(m.Timeout), MaxPayload: int(m.MaxPayload), MaxTokens: m.MaxTokens,
		Context:  m.Context,
		InFlight: m.InFlight, Waiting: *m.Waiting, Nonce: rand.Reader, Now: with.Now,
		Price: judge.Price{In: millionths(m.PriceIn), Out: millionths(m.PriceOut), Cached: millionths(*m.PriceCached), Currency: m.Currency}}
	var err error
	if m.Key != "" {
		c.Key = func() (string, error) {
			key, err := upstream.Secret(with.Getenv, "key", m.Key)
			return strings.TrimSpace(key.Reveal()), err
		}
		key, err := c.Key() // now rather than with the first question
		if err != nil {
			return c, err
		}
		for _, other := range reasoning {
			if strings.TrimSpace(other.Reveal()) == key {
				return c, interlock.Errorf(interlock.CodeInvalid, "key",
					"is the same credential as one that agents reason with (judge.reasoning); give the judge one of its own")
			}
		}
	}
	if m.CA != "" {
		if c.Roots, err = authorities(m.CA); err != nil {
			return c, err
		}
	}
	if m.Proxy != "" {
		if c.Proxy, err = url.Parse(m.Proxy); err != nil {
			return c, interlock.Errorf(interlock.CodeInvalid, "proxy", "is no address such as http://proxy.example:3128")
		}
	}
	if c.Wire == judge.WireCommand {
		profile, err := settings.Sandbox.Named(m.Sandbox)
		if err != nil {
			return c, interlock.Errorf(interlock.CodeInvalid, "sandbox", "%.40q is no profile of a sandbox", m.Sandbox)
		}
		c.Run = judgeCommandIn(settings, profile)
	}
	c.Canary, err = JudgeCanary(settings.Judge.Canary.Filled())
	return c, err
}

// millionths is a price of the settings, which is for a million tokens, as judges count it.
func millionths(price float64) int64 {
	if !(price >= 0 && price <= judge.MaxPrice/1e6) {
		return -1 // which is refused by the name of its field
	}
	return int64(math.Ceil(price*1e6 - 1e-6))
}

// authorities are those that a file holds, and no others.
func authorities(file string) (*x509.CertPool, error) {
	text, err := fileio.Plain(file, maxAuthorities)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeInvalid, "ca", "the file of authorities can't be read: %s", fileio.Reason(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, interlock.Errorf(interlock.CodeInvalid, "ca", "the file holds no certificate in PEM form")
	}
	return pool, nil
}

// JudgeCanary is how judges are tested: their settings name commands, and what they are shown of one is what they are shown of any.
func JudgeCanary(set config.JudgeCanary) (judge.Canary, error) {
	c := judge.Canary{Every: time.Duration(set.Every)}
	for _, one := range []struct {
		into    *[]byte
		command string
	}{{&c.Deny, set.Deny}, {&c.Allow, set.Allow}} {
		payload, err := question.Action(interlock.Action{Kind: interlock.KindShell, Input: one.command}, nil, classify.Redact)
		if err != nil {
			return c, err
		}
		*one.into = payload
	}
	return c, nil
}

// judgeCommandIn runs a judge's command in a sandbox: no network, an empty workspace that is thrown away, nothing of the environment.
func judgeCommandIn(settings config.Config, profile config.SandboxProfile) judge.Runner {
	return func(ctx context.Context, argv []string, stdin []byte, most int) ([]byte, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		dir, err := os.MkdirTemp("", "interlock-judge-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return nil, err
		}
		out := &bounded{most: most}
		result, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Workspace: dir, Dir: dir,
			Limits: sandbox.Limits{Time: time.Duration(profile.Time), Memory: int64(profile.Memory), Disk: int64(profile.Disk),
				Processes: profile.Processes, Files: profile.Files, Output: int64(profile.Output)},
			Read: profile.Read, Path: profile.Path, Startup: sandbox.Startup(), Sockets: profile.Sockets,
			Hide:  []string{settings.Home, settings.Rules, config.Socket(settings.Home)},
			State: filepath.Join(settings.Home, "sandbox"), Self: self, Stdin: bytes.NewReader(stdin), Stdout: out, Stderr: &bounded{}})
		switch {
		case err != nil:
			return nil, err
		case result.Exit != 0 || result.Stopped != "":
			return nil, errors.New("the command ended badly")
		case out.over:
			return nil, errors.New("the command wrote too much")
		}
		return out.text, nil
	}
}

// bounded keeps what is written up to a bound, and takes the rest without keeping it.
type bounded struct {
	text []byte
	most int
	over bool
}

func (b *bounded) Write(text []byte) (int, error) {
	if len(b.text)+len(text) > b.most {
		b.over = true
		return len(text), nil
	}
	b.text = append(b.text, text...)
	return len(text), nil
}
