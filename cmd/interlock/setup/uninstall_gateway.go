package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/harness"
)

// apply carries a move out: what the gateway will need first, then how to undo it, then the client's own settings. If it is
// cut short before the last, nothing has changed for the client, and running it again starts from the beginning.
func (m *gatewayMove) apply(move harness.Move, servers *movedServers) error {
	record := MoveRecord{Version: 1, Client: m.client.Name, Path: move.Path, Base: move.Base, After: move.After,
		Servers: digestOf(servers.plan.After), Names: servers.called}
	if m.record != nil {
		record.Secrets = m.record.Secrets
	}
	for _, path := range slices.Sorted(maps.Keys(servers.secrets)) {
		if err := cli.WritePrivate(path, []byte(servers.secrets[path])); err != nil {
			return err
		}
		if !slices.Contains(record.Secrets, path) {
			record.Secrets = append(record.Secrets, path)
		}
	}
	if err := cli.WritePrivate(servers.plan.Path, servers.plan.After); err != nil {
		return err
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if err := cli.WritePrivate(m.recordPath(), text); err != nil {
		return err
	}
	if err := m.guard(true); err != nil {
		return err
	}
	return move.Replace()
}

// guard adds the client's settings to those that agents must not change, or takes them out.
func (m *gatewayMove) guard(add bool) error {
	file, content := config.GuardedFile(m.settings.Home, m.client.Settings(m.place), add)
	if len(content) > 0 {
		return cli.WritePrivate(file, content)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%s can't be removed", file)
	}
	return nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// gateway puts a client's servers back.
func (c *UninstallCommand) gateway(p *cli.Program) error {
	m, err := c.gatewayClient(p)
	if err != nil {
		return err
	}
	has, err := m.client.HasGateway(m.place)
	if err != nil {
		return refusedFile(err)
	}
	path := m.client.Settings(m.place)
	switch {
	case m.record == nil && has:
		return refusedFile(interlock.Errorf(interlock.CodeNotFound, "",
			"%s names the gateway, but %s, which says what was there before, is gone; take the entry out by hand, its servers are in %s",
			path, m.recordPath(), config.ClientFile(m.settings.Home, m.id)))
	case m.record == nil:
		fmt.Fprintf(p.Stdout, "%s has no gateway of Interlock's in %s\n", m.client.Title, path)
		return nil
	case !has && !c.KeepChanges:
		return refusedFile(fmt.Errorf("%s no longer names the gateway; to put the servers back that were moved, run: "+
			"interlock uninstall gateway --client %s --keep-changes", path, m.client.Name))
	}
	plan, err := m.client.Return(m.place, *m.earlier(), c.KeepChanges)
	if errors.Is(err, harness.ErrServersChanged) {
		return refusedFile(fmt.Errorf("%w; to keep what changed beside the servers that come back, run: interlock "+
			"uninstall gateway --client %s --keep-changes; to move what was added behind the gateway as well: "+
			"interlock install gateway --client %s",
			err, m.client.Name, m.client.Name))
	}
	if err != nil {
		return refusedFile(err)
	}
	fmt.Fprint(p.Stdout, m.withSecrets().shown(plan.Diff()))
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	if err := plan.Replace(); err != nil {
		return refusedFile(err)
	}
	kept := m.forget()
	fmt.Fprintf(p.Stdout, "%s: its servers are back in %s. Nothing decides their calls now.\n", m.client.Title, path)
	if kept != "" {
		fmt.Fprintf(p.Stdout, "Servers of the gateway that were edited since are kept in %s\n", kept)
	}
	return nil
}

// withSecrets are the secrets that were moved, so that they can be left out of what is shown.
func (m *gatewayMove) withSecrets() *movedServers {
	s := &movedServers{secrets: map[string]string{}}
	for _, path := range m.record.Secrets {
		if text, err := fileio.Plain(path, MaxClientFile); err == nil && len(text) > 0 {
			s.secrets[path] = string(text)
		}
	}
	return s
}

// forget removes what was kept of a move that is undone. A file of servers that was edited since is kept under another name; the
// secrets it refers to stay with it.
func (m *gatewayMove) forget() (kept string) {
	path := config.ClientFile(m.settings.Home, m.id)
	text, err := fileio.Plain(path, MaxClientFile)
	switch {
	case err == nil && digestOf(text) != m.record.Servers:
		kept = path + ".kept"
		_ = os.Rename(path, kept) // if it can't be moved it stays
	case err == nil:
		_ = os.Remove(path)
	}
	if kept == "" {
		for _, file := range m.record.Secrets {
			_ = os.Remove(file) // a file that stays is the owner's alone
		}
		_ = os.Remove(filepath.Join(config.ClientDir(m.settings.Home), "secrets", m.id))
	}
	_ = os.Remove(m.recordPath())
	_ = m.guard(false) // a file too many on the list is guarded in vain
	return kept
}
