//go:build windows || darwin

package notify

import (
	"context"
	"errors"

	"github.com/ncruces/zenity"
)

// screen reports whether there is a desktop to show a window on; here that shows when it is opened.
func screen(func(string) string) error { return nil }

// show opens a window and returns when it is closed. The text reaches the system in memory or through a pipe.
func show(ctx context.Context, title, body string) error {
	err := zenity.Warning(body, zenity.Title(title), zenity.Context(ctx))
	if err == nil || errors.Is(err, zenity.ErrCanceled) || ctx.Err() != nil {
		return nil
	}
	return errors.New("the window could not be opened")
}
