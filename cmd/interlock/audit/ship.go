package audit

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/ship"
	"interlock/internal/upstream"
)

// ShipTargets are the places that the settings name, or what is wrong with one.
func ShipTargets(p *cli.Program, settings config.Config) ([]ship.Target, error) {
	host, _ := os.Hostname() // without one, messages name none
	var targets []ship.Target
	for n, s := range settings.ShipTo {
		field := fmt.Sprintf("ship_to[%d]", n)
		c := ship.Config{To: s.To, Format: ship.Format(s.Format), Host: host}
		if s.Token != "" {
			c.Token = func() (string, error) {
				secret, err := upstream.Secret(p.Getenv, field+".token", s.Token)
				return secret.Reveal(), err
			}
			if _, err := c.Token(); err != nil { // now rather than with the first entry
				return nil, err
			}
		}
		target, err := ship.New(c)
		if err != nil {
			if known, ok := err.(*interlock.Error); ok {
				return nil, interlock.Errorf(known.Code, field+"."+known.Field, "%s", known.Message)
			}
			return nil, err
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// ShipLog sends the log to every target until ctx ends.
func ShipLog(ctx context.Context, backend *embedded.Backend, home string, targets []ship.Target, logger *slog.Logger) {
	var all sync.WaitGroup
	for _, target := range targets {
		changed, err := backend.Watch(ctx, ledger.Watch{Within: time.Second})
		if err != nil {
			logger.Warn("the log is not sent on", "target", target.Name(), "error", err.Error())
			continue
		}
		s := ship.Shipper{Log: backend.Store, Origin: backend.Key.Origin(), Target: target, Dir: filepath.Join(home, "shipped"), Logger: logger}
		all.Go(func() { s.Run(ctx, changed) })
	}
	all.Wait()
}
