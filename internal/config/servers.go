package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/strictyaml"
)

// GatewayServers are the servers behind the gateway, in the order in which they stand in the file.
type GatewayServers struct {
	Servers []GatewayServer `json:"servers"`
}

// A GatewayServer is one MCP server behind the gateway: a program or an address. What its fields may hold is for package
// upstream to check.
type GatewayServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	CA      string            `json:"ca,omitempty"`
	After   []string          `json:"after,omitempty"`
	Enabled *bool             `json:"enabled,omitempty"`
	Connect Duration          `json:"connect_timeout,omitempty"`
	Stop    Duration          `json:"stop_timeout,omitempty"`
}

// IsEnabled reports whether the server is started at all.
func (s GatewayServer) IsEnabled() bool { return s.Enabled == nil || *s.Enabled }

// Ordered returns the enabled servers in the order in which they are started: as in the file, but none before those it is to
// come after.
func (g GatewayServers) Ordered() ([]GatewayServer, error) {
	at := map[string]int{}
	for i, s := range g.Servers {
		if _, twice := at[s.Name]; twice {
			return nil, interlock.Errorf(interlock.CodeInvalid, "gateway.servers",
				"two servers are named %.80q; names must differ", s.Name)
		}
		at[s.Name] = i
	}
	var ordered []GatewayServer
	state := make([]int, len(g.Servers)) // 1: being placed, 2: placed
	var place func(i int) error
	place = func(i int) error {
		s := g.Servers[i]
		if state[i] == 1 {
			return interlock.Errorf(interlock.CodeInvalid, "gateway.servers."+s.Name+".after", "leads back to the server itself")
		}
		if state[i] == 2 {
			return nil
		}
		state[i] = 1
		for _, name := range s.After {
			earlier, known := at[name]
			if !known {
				return interlock.Errorf(interlock.CodeInvalid, "gateway.servers."+s.Name+".after",
					"there is no server %.80q", name)
			}
			if err := place(earlier); err != nil {
				return err
			}
		}
		state[i] = 2
		if s.IsEnabled() {
			ordered = append(ordered, s)
		}
		return nil
	}
	for i := range g.Servers {
		if err := place(i); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// ClientFile is where the servers stand that were moved behind the gateway from one client's settings.
func ClientFile(home, client string) string { return filepath.Join(ClientDir(home), client+".yaml") }

// ClientDir holds what `interlock install gateway` keeps.
func ClientDir(home string) string { return filepath.Join(home, "gateway") }

// guardedName is the file below [ClientDir] that lists the settings of clients which name the gateway, one path to a line.
const guardedName = "guarded"

// Guarded lists the settings files of clients whose servers were moved behind the gateway. Anyone who may write one may take the
// gateway out.
func Guarded(home string) []string {
	text, err := fileio.Plain(filepath.Join(ClientDir(home), guardedName), 1<<20)
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// GuardedFile returns where that list is and what it is to hold when a path is added to it or taken out.
func GuardedFile(home, path string, add bool) (file string, content []byte) {
	list := slices.DeleteFunc(Guarded(home), func(p string) bool { return p == path })
	if add {
		list = append(list, path)
	}
	slices.Sort(list)
	for _, p := range list {
		content = append(append(content, p...), '\n')
	}
	return filepath.Join(ClientDir(home), guardedName), content
}

// ValidClient reports whether a client may be called so.
func ValidClient(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(name, "-")
}

// WithClient returns the gateway's servers for one client: those that were moved from its settings, then those of all clients.
func (c Config) WithClient(client string) (GatewayServers, error) {
	all := GatewayServers{Servers: slices.Clone(c.Gateway.Servers)}
	if client == "" {
		return all, nil
	}
	if !ValidClient(client) {
		return all, interlock.Errorf(interlock.CodeInvalid, "--client",
			"%.80q is no name of a client; use lower-case letters, digits and -", client)
	}
	path := ClientFile(c.Home, client)
	data, err := fileio.Own(path, strictyaml.MaxBytes, fileio.Settled)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, interlock.Errorf(interlock.CodeNotFound, "--client",
			"no servers were moved from %s; run: interlock install gateway --client %s", client, client)
	case err != nil:
		return all, interlock.Errorf(interlock.CodeInvalid, "--client", "%s can't be read: %s", path, reasonOf(err))
	}
	var own GatewayServers
	if !blank(data) {
		if err := strictyaml.Decode(filepath.Base(path), data, &own); err != nil {
			return all, err
		}
	}
	all.Servers = append(own.Servers, all.Servers...)
	return all, nil
}
