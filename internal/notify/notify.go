package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"interlock"
	"interlock/internal/notice"
)

// The kinds of channel.
const (
	KindConsole  = "console"  // nothing is sent: an operator has the code shown in the console
	KindTerminal = "terminal" // nothing is sent: an operator has the code shown by interlock watch
	KindEmail    = "email"
	KindWebhook  = "webhook"
	KindSlack    = "slack"
	KindNtfy     = "ntfy"
	KindDialog   = "dialog"
)

// Settings describe one channel. Secrets are references: env:NAME or file:PATH.
type Settings struct {
	Name   string         // for reports; default: the kind
	Kind   string         // one of the Kind constants
	Floor  interlock.Tier // notices below it are not for this channel
	Always bool           // tell it even where an earlier channel has taken the notice

	URL   string // webhook and ntfy: the address or a reference to it; slack: a reference
	Key   string // webhook: reference to the key that signs what is sent
	Token string // ntfy: reference to an access token

	Host     string // email: host:port of the mail server
	TLS      string // email: starttls (default), tls, or none for a server on this machine
	User     string
	Password string // email: reference
	From     string
	To       []string
}

// A channel takes a notice to somebody, or says in a few words why it did not. Those words hold no secret.
type channel interface {
	send(ctx context.Context, n notice.Notice) error
}

// Listed is what is told of a channel.
type Listed struct {
	Name   string
	Kind   string
	Floor  interlock.Tier
	Always bool
}

// A link is a channel in its place.
type link struct {
	Listed
	channel
}

// Config configures a [Notifier]. Only Now is required.
type Config struct {
	Channels []Settings
	Now      func() time.Time
	Timeout  time.Duration         // for one channel; default: 5 s
	Quiet    func(time.Time) bool  // optional: whether nobody is to be disturbed by less than the danger zone
	Getenv   func(string) string   // optional: default os.Getenv
	trust    func(*client, *email) // for tests: whom to trust beside the system's authorities
}

// A Notifier tries channels in order until one takes the notice. It is safe for concurrent use.
type Notifier struct {
	links   []link
	now     func() time.Time
	timeout time.Duration
	quiet   func(time.Time) bool
}

// New returns a notifier over the channels, or an error that names the channel and the setting at fault.
func New(c Config) (*Notifier, error) {
	if c.Now == nil {
		return nil, errors.New("notify: Config.Now is missing")
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	n := &Notifier{now: c.Now, timeout: c.Timeout, quiet: c.Quiet}
	names := map[string]bool{}
	for i, s := range c.Channels {
		if s.Name == "" {
			s.Name = s.Kind
		}
		made, err := open(s, c)
		if err != nil {
			return nil, prefixed(i, err)
		}
		if names[s.Name] {
			return nil, interlock.Errorf(interlock.CodeInvalid, field(i, "name"),
				"two channels are called %.40q; give each a name of its own", s.Name)
		}
		names[s.Name] = true
		n.links = append(n.links, link{Listed: Listed{Name: s.Name, Kind: s.Kind, Floor: s.Floor,
			Always: s.Always}, channel: made})
	}
	return n, nil
}

func open(s Settings, c Config) (channel, error) {
	if err := fits(s); err != nil {
		return nil, err
	}
	switch s.Kind {
	case KindConsole, KindTerminal:
		return standing{}, nil
	case KindEmail:
		return newEmail(s, c)
	case KindWebhook:
		return newWebhook(s, c)
	case KindSlack:
		return newSlack(s, c)
	case KindNtfy:
		return newNtfy(s, c)
	case KindDialog:
		return dialog{now: c.Now, getenv: c.Getenv}, nil
	default:
		return nil, interlock.Errorf(interlock.CodeInvalid, "kind",
			"%.40q is no kind of channel; name email, webhook, slack, ntfy, dialog, console or terminal", s.Kind)
	}
}

// fits refuses settings that the kind does not have, so that none is set in vain.
func fits(s Settings) error {
	mail := s.Kind == KindEmail
	for _, setting := range []struct {
		name string
		set  bool
		has  bool
	}{
		{"url", s.URL != "", s.Kind == KindWebhook || s.Kind == KindSlack || s.Kind == KindNtfy},
		{"key", s.Key != "", s.Kind == KindWebhook}, {"token", s.Token != "", s.Kind == KindNtfy},
		{"host", s.Host != "", mail}, {"tls", s.TLS != "", mail}, {"user", s.User != "", mail},
		{"password", s.Password != "", mail},
		{"from", s.From != "", mail}, {"to", len(s.To) > 0, mail},
	} {
		if setting.set && !setting.has {
			return interlock.Errorf(interlock.CodeInvalid, setting.name, "is no setting of a channel of this kind")
		}
	}
	return nil
}

func field(i int, name string) string { return fmt.Sprintf("channels[%d].%s", i, name) }

func prefixed(i int, err error) error {
	var e *interlock.Error
	if errors.As(err, &e) {
		return &interlock.Error{Code: e.Code, Field: field(i, e.Field), Message: e.Message}
	}
	return fmt.Errorf("channels[%d]: %w", i, err)
}

// Notify tells the first channel that takes the notice, in the order they are configured, and every one that is always told.
// A channel that fails is reported and the next one is tried.
func (n *Notifier) Notify(ctx context.Context, notice notice.Notice) (d notice.Delivery) {
	if n.quiet != nil && notice.Severity < interlock.TierDangerZone && n.quiet(n.now()) {
		d.Failed = append(d.Failed, "quiet hours: nobody is disturbed before they end")
		return d
	}
	eligible := false
	for _, l := range n.links {
		if notice.Severity < l.Floor {
			continue
		}
		eligible = true
		if len(d.Channels) > 0 && !l.Always {
			continue
		}
		if err := n.try(ctx, l, notice); err != nil {
			d.Failed = append(d.Failed, l.Name+": "+err.Error())
			continue
		}
		d.Channels = append(d.Channels, l.Name)
	}
	if !eligible {
		d.Failed = append(d.Failed, "no channel is configured for this")
	}
	return d
}

// Answered tells that a request waits no more: programs behind webhooks always, and people where it was told them as one that waits
// and nobody of them has answered it. A window on the desktop would only be one more to close. state says in words what became of it.
func (n *Notifier) Answered(ctx context.Context, notice notice.Notice, state string, people bool) (d notice.Delivery) {
	for _, l := range n.links {
		told := notice
		switch l.Kind {
		case KindWebhook:
		case KindEmail, KindSlack, KindNtfy:
			if told.Status = state; !people || n.quiet != nil && n.quiet(n.now()) {
				continue
			}
		default:
			continue
		}
		if notice.Severity < l.Floor {
			continue
		}
		if err := n.try(ctx, l, told); err != nil {
			d.Failed = append(d.Failed, l.Name+": "+err.Error())
			continue
		}
		d.Channels = append(d.Channels, l.Name)
	}
	return d
}

// try sends through one channel within its time. A channel that breaks has failed; what it broke with is not repeated.
func (n *Notifier) try(ctx context.Context, l link, notice notice.Notice) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it failed on a defect")
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	return l.send(ctx, notice)
}

// Takes reports whether a channel takes notices of a severity.
func (n *Notifier) Takes(severity interlock.Tier) bool {
	for _, l := range n.links {
		if l.Floor <= severity {
			return true
		}
	}
	return false
}

// List returns the channels, in order.
func (n *Notifier) List() []Listed {
	var list []Listed
	for _, l := range n.links {
		list = append(list, l.Listed)
	}
	return list
}

// Try sends a notice through one channel, whatever its floor.
func (n *Notifier) Try(ctx context.Context, name string, notice notice.Notice) error {
	for _, l := range n.links {
		if l.Name == name {
			return n.try(ctx, l, notice)
		}
	}
	return errors.New("there is no such channel")
}
