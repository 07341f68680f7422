//go:build !windows && !darwin

package notify

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// screen reports whether there is a desktop to show a window on.
func screen(getenv func(string) string) error {
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no desktop here")
	}
	return nil
}

// show opens a window and returns when it is closed. The text goes through a pipe: the arguments of a process can be read by
// every other one, which is why the zenity library, which passes them, is not used here.
func show(ctx context.Context, title, body string) error {
	for _, name := range []string{"zenity", "qarma", "matedialog"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		window := exec.CommandContext(ctx, path, "--text-info", "--title="+title, "--width=640", "--height=480")
		window.Stdin = strings.NewReader(body)
		err = window.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 || ctx.Err() != nil {
			return nil // closed, or its time is over
		}
		if err != nil {
			return errors.New("the window could not be opened")
		}
		return nil
	}
	return errors.New("no program that opens windows is installed; zenity is one")
}
