package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/control"
	"interlock/internal/fileio"
	"interlock/internal/hostname"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

// controlTokenFile is the name of the file within the home that holds the credential of the control door.
const controlTokenFile = "control.token"

// A controlDoor is the open control door; nil: there is none.
type controlDoor struct {
	listener net.Listener
	config   control.Config
}

// openControl opens the control door where the settings name an address.
func openControl(settings config.Config, backend *embedded.Backend, tokens *identity.Tokens, logger *slog.Logger,
	now func() time.Time) (*controlDoor, error) {
	if settings.Control == "" || settings.Control == "off" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(settings.Control)
	if err != nil || !cli.IsLoopback(host) && !settings.AllowRemote {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--control",
			"%.60q is not a loopback address such as 127.0.0.1:7434; allow_remote in the settings permits others", settings.Control)
	}
	token, err := controlToken(settings.Home)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", settings.Control)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--control",
			"%s can't be listened on; is it in use? Name another with --control", settings.Control)
	}
	return &controlDoor{listener, control.Config{Backend: backend.Admission, Orders: backend.Admission,
		Log: backend.Store, Token: token, Watch: tokens, Names: hostname.New(settings.Hosts...),
		Looked: backend.RecordLook, Logger: logger, Now: now}}, nil
}

// controlToken reads the credential, and makes it where there is none.
func controlToken(home string) (string, error) {
	path := filepath.Join(home, controlTokenFile)
	text, err := fileio.Own(path, 1<<10, fileio.Secret)
	if errors.Is(err, fs.ErrNotExist) {
		token, err := control.NewToken(rand.Reader)
		if err != nil {
			return "", fmt.Errorf("reading randomness: %w", err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = f.WriteString(token + "\n")
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil {
			return "", interlock.Errorf(interlock.CodeUnavailable, controlTokenFile, "can't be written in the home: %s", fileio.Reason(err))
		}
		return token, nil
	}
	token := strings.TrimSpace(string(text))
	if err == nil && !strings.HasPrefix(token, control.TokenPrefix) {
		err = errors.New("it holds no token; remove it, and a new one is made")
	}
	if err != nil {
		return "", interlock.Errorf(interlock.CodeInvalid, controlTokenFile, "in the home can't be used: %s", fileio.Reason(err))
	}
	return token, nil
}

func (d *controlDoor) serve(ctx context.Context, logger *slog.Logger) {
	if d == nil {
		return
	}
	if err := control.Serve(ctx, d.listener, d.config); err != nil {
		logger.Error("serving the control door", "error", err.Error())
	}
}

func (d *controlDoor) close() {
	if d != nil {
		d.listener.Close()
	}
}

// withKill puts a stop of everything before what else is wrong.
func withKill(p *cli.Program, backend *embedded.Backend, warnings func() []string) func() []string {
	return func() []string {
		h, any, err := backend.Killed(p.Ctx)
		switch {
		case err != nil:
			return append([]string{"it can't be told whether everything is stopped"}, warnings()...)
		case any && h.Step(cli.Now()) == ledger.KillNone:
			return append([]string{"the observer " + h.By + " asks to stop everything, which happens at " + h.Deadline.Local().Format("15:04:05") +
				" unless an admin declines it: " + h.Why}, warnings()...)
		case any:
			return append([]string{"everything is stopped (" + string(h.Step(p.Now())) + "): " + h.Why}, warnings()...)
		}
		return warnings()
	}
}
