package serve

import (
	"context"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/webpush"
)

// nobodysAddress is whom a push service is told to write to where the console has no address of its own that others could open. Some
// services refuse messages that name nobody.
const nobodysAddress = "mailto:operator@interlock.invalid"

// newSender makes what tells browsers. Its key is made when somebody first wants to be told.
func newSender(settings config.Config, backend *embedded.Backend) *webpush.Sender {
	contact := nobodysAddress
	if strings.HasPrefix(settings.ConsoleURL, "https://") {
		contact = settings.ConsoleURL
	}
	return webpush.NewSender(webpush.Config{Rows: backend, Contact: contact, Hosts: settings.PushHosts, Now: cli.Now,
		Key: sync.OnceValues(func() (webpush.Key, error) { return embedded.PushKey(settings.Home) }),
		InOffice: func(ctx context.Context, name string, since time.Time) (bool, error) {
			standing, err := backend.Ground(ctx, ledger.Ref{Kind: ledger.Operator, Key: name})
			operator := standing.Operators[name]
			return err == nil && operator.Name != "" && operator.Created.Equal(since) &&
				(operator.Revoked.IsZero() || cli.Now().Before(operator.Revoked)) && quorum.Answers(operator.Role), err
		}})
}

// pushed is what browsers are told of a request that waits for an operator: the rule, and why in its own words. What the finding says of
// this action stays on the page.
func pushed(backend *embedded.Backend, r interlock.ApprovalRequest) webpush.Message {
	why := ""
	if rule, known := backend.Rules().Rule(r.Rule); known {
		why = rule.Reason
	}
	return webpush.Asks(r, why)
}
