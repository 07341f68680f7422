package webpush

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// The bounds of telling.
const (
	maxEach = 8  // browsers of one operator
	atOnce  = 16 // messages under way
)

// Rows are where it is kept which browsers are told. Implementations are safe for concurrent use.
type Rows interface {
	Subscriptions(ctx context.Context) ([]ledger.SubscriptionBody, error)
	NoteSubscription(ctx context.Context, id string, change func(ledger.SubscriptionBody) ledger.SubscriptionBody) error
}

// Config configures a [Sender].
type Config struct {
	Rows    Rows
	Key     func() (Key, error) // asked when it is needed
	Contact string              // mailto: or https:, for who runs a push service and has something to say
	Hosts   []string            // push services that may be at addresses inside
	Now     func() time.Time
	Timeout time.Duration // for one message; default: 5 s
	// InOffice reports whether the operator who had a browser told is still the one he was, and answers requests.
	InOffice func(ctx context.Context, name string, since time.Time) (bool, error)
	Roots    *x509.CertPool // optional: whom to trust instead of the system's authorities
}

// A Sender tells browsers. It is safe for concurrent use.
type Sender struct {
	config Config
	client *client
}

// NewSender returns a sender.
func NewSender(c Config) *Sender {
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	return &Sender{config: c, client: newClient(c)}
}

// PublicKey is what a browser subscribes with.
func (s *Sender) PublicKey() (string, error) {
	key, err := s.config.Key()
	if err != nil {
		return "", err
	}
	return key.Public()
}

// idOf names a browser by its address, so that one that comes again is the same. The page's script does the same to know itself.
func idOf(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return "psh_" + hex.EncodeToString(sum[:8])
}

// A Browser is what one says of itself that wants to be told.
type Browser struct {
	Name     string // as it calls itself
	Endpoint string
	Key      string // p256dh: base64url
	Auth     string
}

// Check says whether messages may go to a browser, and what it is called here.
func (s *Sender) Check(ctx context.Context, operator string, b Browser) (id string, err error) {
	if _, err := parse(b.Endpoint, b.Key, b.Auth, s.config.Hosts); err != nil {
		return "", err
	}
	id = idOf(b.Endpoint)
	list, err := s.config.Rows.Subscriptions(ctx)
	if err != nil {
		return "", err
	}
	own := 0
	for _, known := range list {
		if known.Operator == operator && known.ID != id {
			own++
		}
	}
	if own >= maxEach {
		return "", interlock.Errorf(interlock.CodeLimited, "endpoint",
			"you are told in %d browsers already; switch it off for one of them first", maxEach)
	}
	return id, nil
}

// Begin has a browser told that passed Check. A browser that told another operator tells this one from now on.
func (s *Sender) Begin(ctx context.Context, id string, operator interlock.OperatorRecord, b Browser) error {
	now := s.config.Now().UTC()
	return s.config.Rows.NoteSubscription(ctx, id, func(ledger.SubscriptionBody) ledger.SubscriptionBody {
		return ledger.SubscriptionBody{ID: id, Operator: operator.Name, Since: operator.Created, Browser: b.Name, Made: now,
			Endpoint: b.Endpoint, Key: b.Key, Auth: b.Auth}
	})
}

// End has a browser of an operator told no more.
func (s *Sender) End(ctx context.Context, id, operator string) error {
	if _, err := s.of(ctx, id, operator); err != nil {
		return err
	}
	return s.end(ctx, id)
}

func (s *Sender) end(ctx context.Context, id string) error {
	now := s.config.Now().UTC()
	return s.config.Rows.NoteSubscription(ctx, id, func(was ledger.SubscriptionBody) ledger.SubscriptionBody { return was.End(now) })
}

// of finds a browser of an operator's own.
func (s *Sender) of(ctx context.Context, id, operator string) (ledger.SubscriptionBody, error) {
	list, err := s.config.Rows.Subscriptions(ctx)
	if err != nil {
		return ledger.SubscriptionBody{}, err
	}
	at := slices.IndexFunc(list, func(one ledger.SubscriptionBody) bool { return one.ID == id && one.Operator == operator })
	if at < 0 {
		return ledger.SubscriptionBody{}, interlock.Errorf(interlock.CodeNotFound, "id", "no browser of yours is told under this id")
	}
	return list[at], nil
}

// Try sends a test message to one browser of an operator.
func (s *Sender) Try(ctx context.Context, id, operator string) error {
	one, err := s.of(ctx, id, operator)
	if err != nil {
		return err
	}
	if err := s.tell(ctx, one, Test(s.config.Now())); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "", "it could not be sent: %s", err.Error())
	}
	return nil
}

// Wanted reports whether any browser is told, and since when the first of them is. Where that can't be read, one may be.
func (s *Sender) Wanted(ctx context.Context) (since time.Time, wanted bool) {
	list, err := s.config.Rows.Subscriptions(ctx)
	for _, one := range list {
		if since.IsZero() || one.Made.Before(since) {
			since = one.Made
		}
	}
	return since, err != nil || len(list) > 0
}

// Tell sends a message to every browser of an operator who may answer, and says of each that was not reached why. Nothing depends on it.
func (s *Sender) Tell(ctx context.Context, m Message) (failed []string) {
	list, err := s.config.Rows.Subscriptions(ctx)
	if err != nil {
		return []string{"browsers: which are told can't be read"}
	}
	var mu sync.Mutex
	var work sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, one := range list {
		if !m.Asked.IsZero() && m.Asked.Before(one.Made) {
			continue
		}
		places <- struct{}{}
		work.Go(func() {
			defer func() { <-places }()
			if err := s.tell(ctx, one, m); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, one.ID+" of "+one.Operator+": "+err.Error())
			}
		})
	}
	work.Wait()
	slices.Sort(failed)
	return failed
}

// tell sends to one browser and notes how that went. A browser whose operator is gone, or that has switched it off itself, is told no
// more.
func (s *Sender) tell(ctx context.Context, one ledger.SubscriptionBody, m Message) error {
	in, err := s.config.InOffice(ctx, one.Operator, one.Since)
	if err != nil {
		return errors.New("who may answer can't be read")
	}
	if !in {
		return s.end(ctx, one.ID)
	}
	err = s.send(ctx, one, m)
	if errors.Is(err, errGone) {
		return s.end(ctx, one.ID)
	}
	now := s.config.Now().UTC()
	noted := s.config.Rows.NoteSubscription(ctx, one.ID, func(was ledger.SubscriptionBody) ledger.SubscriptionBody {
		switch {
		case was.Endpoint != one.Endpoint: // it was switched off meanwhile
		case err == nil:
			was.Told, was.Failed, was.FailedAt, was.Why = now, 0, time.Time{}, ""
		default:
			was.Failed, was.FailedAt, was.Why = was.Failed+1, now, err.Error()
		}
		return was
	})
	if err == nil && noted != nil {
		return errors.New("it was told, which could not be noted")
	}
	return err
}

func (s *Sender) send(ctx context.Context, one ledger.SubscriptionBody, m Message) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it failed on a defect")
		}
	}()
	to, err := parse(one.Endpoint, one.Key, one.Auth, s.config.Hosts)
	if err != nil {
		return errors.New("its address or its keys can't be used")
	}
	plain, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	return s.client.send(ctx, to, plain, m.Tag, m.Until.Sub(s.config.Now()))
}
