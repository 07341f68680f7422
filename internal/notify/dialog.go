package notify

import (
	"context"
	"errors"
	"time"

	"interlock/internal/notice"
)

// dialog opens a window on this machine's desktop that stays until somebody closes it or the code has expired. Whatever can
// look at the screen can read it, so it is for agents that can't.
type dialog struct {
	now    func() time.Time
	getenv func(string) string
}

// dialogSettles is how long a program that shows a window is watched: one that can't ends at once.
const dialogSettles = 400 * time.Millisecond

// defaultShown is how long a notice without a code is shown.
const defaultShown = 10 * time.Minute

func (d dialog) send(ctx context.Context, n notice.Notice) error {
	until := n.Expires.Sub(d.now())
	if n.Expires.IsZero() {
		until = defaultShown
	}
	if until <= 0 {
		return errors.New("the code has expired")
	}
	if err := screen(d.getenv); err != nil {
		return err
	}
	// The window outlives the call, so it has a time of its own.
	showing, stop := context.WithTimeout(context.WithoutCancel(ctx), until)
	ended := make(chan error, 1)
	go func() {
		defer stop()
		defer func() {
			if recover() != nil { // what it says could hold the code
				ended <- errors.New("the window failed on a defect")
			}
		}()
		ended <- show(showing, headline(n), text(n, 0))
	}()
	settled := time.NewTimer(dialogSettles)
	defer settled.Stop()
	select {
	case err := <-ended:
		return err // nil: somebody has closed it already
	case <-settled.C:
		return nil
	case <-ctx.Done():
		stop()
		return errors.New("no window opened in time")
	}
}
