package main

import (
	"errors"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/startup"
)

// checkAgents refuses flags that can't work, before anything is made.
func (c *upCommand) checkAgents() error {
	if c.AgentsSocket == "" && c.AgentsGroup != "" {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--agents-group", "goes with --agents-socket FILE"))
	}
	if c.AgentsSocket != "" && runtime.GOOS != "linux" {
		return interlock.Errorf(interlock.CodeInvalid, "--agents-socket", "is Linux's only: elsewhere the kernel does not say who asks")
	}
	return nil
}

// listenAgents opens the socket that hooks of other users reach: none but the group may connect, and nobody but this user may put
// another in its place.
func (c *upCommand) listenAgents() ([]net.Listener, error) {
	if c.AgentsSocket == "" {
		return nil, nil
	}
	group := -1
	if c.AgentsGroup != "" {
		found, err := user.LookupGroup(c.AgentsGroup)
		if err == nil {
			group, err = strconv.Atoi(found.Gid)
		}
		if err != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "--agents-group", "%.60q is no group of this system", c.AgentsGroup)
		}
	}
	if dir, err := os.Stat(filepath.Dir(c.AgentsSocket)); err != nil || dir.Mode().Perm()&0o022 != 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "--agents-socket", "must lie in a directory that nobody else can write")
	}
	if probe, err := net.DialTimeout("unix", c.AgentsSocket, time.Second); err == nil {
		probe.Close()
		return nil, interlock.Errorf(interlock.CodeConflict, "--agents-socket", "another server listens there already")
	}
	if err := os.Remove(c.AgentsSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-socket", "the old socket can't be removed")
	}
	door, err := net.Listen("unix", c.AgentsSocket)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-socket", "the socket can't be opened: %v", errors.Unwrap(err))
	}
	if group >= 0 {
		err = os.Chown(c.AgentsSocket, -1, group)
	}
	if err == nil {
		err = os.Chmod(c.AgentsSocket, 0o660)
	}
	if err != nil {
		door.Close()
		return nil, interlock.Errorf(interlock.CodeUnavailable, "--agents-group",
			"the socket can't be given to the group; this user has to be in it")
	}
	return []net.Listener{door}, nil
}

// peerViews says what may be known of the world where another user's agent asks.
func peerViews(settings config.Config, socket string) func(uid int, dir string) interlock.View {
	return func(uid int, dir string) interlock.View {
		who := account.Of(uid)
		view := embedded.GatherPeerView(settings, who.Name, who.Home, dir)
		if socket != "" {
			view.Self = append(view.Self, socket)
		}
		view.Self = append(view.Self, startup.SystemPaths()...)
		return view
	}
}
