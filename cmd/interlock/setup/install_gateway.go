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
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/secret"
	"interlock/internal/upstream"
)

// MaxClientFile bounds what is read of a client's settings, and of what was kept of them, in bytes.
const MaxClientFile = 64 << 20

// gatewayHarness is what install and uninstall call moving a client's MCP servers behind the gateway.
const gatewayHarness = "gateway"

// SecretSuffix ends the names of files that hold secrets: by it the analysis knows that agents must not read them either.
const SecretSuffix = ".key"

// A gatewayMove is one client's move behind the gateway, under way.
type gatewayMove struct {
	program  *cli.Program
	client   harness.Client
	place    harness.Place
	settings config.Config
	id       string      // what the gateway is told with --client
	record   *MoveRecord // of an earlier move; nil: none
}

// A MoveRecord is what is kept of a move, so that it can be undone. It holds the client's settings as they were, secrets
// included, so it is the owner's alone.
type MoveRecord struct {
	Version int      `json:"version"`
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Base    []byte   `json:"base"`    // null: there was no file
	After   []byte   `json:"after"`   // what installing made of it
	Servers string   `json:"servers"` // digest of the file of servers
	Secrets []string `json:"secrets"` // files that were made for values

	Names map[string]string `json:"names"` // what the gateway calls each server, by the client's name for it
}

// gatewayClient reads what both commands need to know.
func (c *settingsFlags) gatewayClient(p *cli.Program) (*gatewayMove, error) {
	client, known := harness.ClientByName(c.Client)
	if !known {
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--client", "%.40q is not known; name one of %s", c.Client,
			strings.Join(harness.Clients(), ", ")))
	}
	if _, err := registeredHome(p); err != nil {
		return nil, err
	}
	settings, err := p.Settings()
	if err != nil {
		return nil, err
	}
	if settings.Home, err = filepath.Abs(settings.Home); err != nil {
		return nil, err
	}
	project := c.Project
	if project != "" {
		if project, err = filepath.Abs(project); err != nil {
			return nil, err
		}
	}
	m := &gatewayMove{program: p, place: p.Place(project), settings: settings}
	m.client, m.id = ClientIn(client.Name, m.place)
	if m.client.Settings(m.place) == "" {
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--project", "%s keeps no servers in a project", client.Title))
	}
	return m, m.readRecord()
}

// ClientIn is a client and what its gateway is told with --client, which tells projects apart.
func ClientIn(name string, place harness.Place) (client harness.Client, id string) {
	client, _ = harness.ClientByName(name)
	client.Entry = name
	if place.Project != "" {
		sum := sha256.Sum256([]byte(place.Project))
		client.Entry += "-" + hex.EncodeToString(sum[:4])
	}
	return client, client.Entry
}

func (m *gatewayMove) recordPath() string {
	return filepath.Join(config.ClientDir(m.settings.Home), m.id+".undo"+SecretSuffix)
}

func (m *gatewayMove) readRecord() error {
	text, err := fileio.Plain(m.recordPath(), MaxClientFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var r MoveRecord
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Version != 1 || r.Path != m.client.Settings(m.place) {
		return interlock.Errorf(interlock.CodeInvalid, "",
			"%s, which says how to undo the earlier move, can't be read; the settings as they were are in it, in base64, under \"base\"", m.recordPath())
	}
	m.record = &r
	return nil
}

func (m *gatewayMove) earlier() *harness.Moved {
	if m.record == nil {
		return nil
	}
	return &harness.Moved{Base: m.record.Base, After: m.record.After}
}

// gateway moves a client's servers behind the gateway.
func (c *InstallCommand) gateway(p *cli.Program) error {
	m, err := c.gatewayClient(p)
	if err != nil {
		return err
	}
	own, err := cli.OwnPath()
	if err != nil {
		return err
	}
	command := harness.Command{Binary: own, Args: []string{"gateway", "--client", m.id, "--home", m.settings.Home}}
	move, err := m.client.Move(m.place, command, c.Leave, m.earlier())
	if err != nil {
		return refusedFile(err)
	}
	if !move.Changes() {
		fmt.Fprintf(p.Stdout, "%s has its servers behind the gateway already: %s\n", m.client.Title, move.Path)
		return nil
	}
	servers, err := m.servers(move)
	if err != nil {
		return refusedFile(err)
	}
	fmt.Fprint(p.Stdout, servers.shown(move.Diff()), servers.plan.Diff())
	if c.DryRun {
		fmt.Fprintln(p.Stdout, "Nothing was changed.")
		return nil
	}
	if err := m.apply(move, servers); err != nil {
		return refusedFile(err)
	}
	m.told(move, servers, own)
	return nil
}

// told says what was done and what is left to do.
func (m *gatewayMove) told(move harness.Move, servers *movedServers, own string) {
	w := m.program.Stdout
	fmt.Fprintf(w, "%s: %s behind the gateway: %s\n", m.client.Title, counted(len(servers.names), "server is", "servers are"),
		strings.Join(servers.names, ", "))
	if len(servers.secrets) > 0 {
		fmt.Fprintf(w, "%s moved into files of their own, which only you may read.\n",
			counted(len(servers.secrets), "secret was", "secrets were"))
	}
	for _, e := range move.Entries {
		if len(e.Ignored) > 0 {
			fmt.Fprintf(w, "%s: left out, because behind the gateway it means nothing: %s\n", e.As, strings.Join(e.Ignored, ", "))
		}
	}
	if said := m.settings.Gateway.TrustOnFirstUse; said != nil && !*said || said == nil &&
		slices.ContainsFunc(move.Entries, func(e harness.ServerEntry) bool { return e.URL != "" }) {
		fmt.Fprintln(w, m.program.Printed("Tools that nobody has approved yet wait for it, those of servers with an address among them: "+
			"interlock tools list --quarantined"))
	}
	if len(move.Left) > 0 {
		fmt.Fprintf(w, "Left where they are, so that nothing decides their calls: %s\n", strings.Join(move.Left, ", "))
	}
	fmt.Fprintf(w, "%s\nProve that they answer: %s\n", m.client.Note,
		harness.Command{Binary: own, Args: []string{"doctor", "--home", m.settings.Home}})
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// movedServers are the servers of a client as the gateway gets them.
type movedServers struct {
	plan    harness.Plan      // of the file of servers
	names   []string          // that are in it
	called  map[string]string // by the client's name for a server, the gateway's
	secrets map[string]string // contents of files to make, by path
}

// shown is a text without the secrets that are moved, and without others.
func (s *movedServers) shown(text string) string {
	for _, value := range s.secrets {
		quoted, err := json.Marshal(value)
		if err == nil {
			text = strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), secret.Marker)
		}
		text = strings.ReplaceAll(text, value, secret.Marker)
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		clean, _ := secret.Redact(line)
		lines = append(lines, clean)
	}
	return strings.Join(lines, "\n")
}

// servers makes the file of servers from what is moved. Servers that are in it already stay as they are.
func (m *gatewayMove) servers(move harness.Move) (*movedServers, error) {
	s := &movedServers{plan: harness.Plan{Path: config.ClientFile(m.settings.Home, m.id)}, secrets: map[string]string{},
		called: map[string]string{}}
	var have config.GatewayServers
	if m.record != nil {
		maps.Copy(s.called, m.record.Names)
		if text, err := fileio.Plain(s.plan.Path, MaxClientFile); err == nil {
			s.plan.Before = text
			all, err := m.settings.WithClient(m.id)
			if err != nil {
				return nil, err
			}
			have.Servers = all.Servers[:len(all.Servers)-len(m.settings.Gateway.Servers)]
		}
	}
	text := string(s.plan.Before)
	if text == "" {
		text = "# Servers that were moved behind the gateway from the settings of " + m.client.Title + ". Yours to edit; the settings' manual\n" +
			"# says how, under gateway. interlock uninstall gateway --client " + m.client.Name + " puts them back.\nservers:\n"
	}
	taken, err := m.taken()
	if err != nil {
		return nil, err
	}
	all := have
	for _, server := range have.Servers {
		s.names = append(s.names, server.Name)
		taken[server.Name] = ""
	}
	for _, e := range move.Entries {
		if as, moved := s.called[e.Name]; moved && slices.Contains(s.names, as) {
			continue // before; it is the gateway's now, and may have been edited
		}
		server := m.converted(e, s.secrets)
		server.Name = free(server, taken)
		s.called[e.Name] = server.Name
		taken[server.Name] = ""
		if err := embedded.UpstreamConfig(server).Check(); err != nil {
			return nil, fmt.Errorf("%s can't be moved: server %s: %w; mend it, or leave this server where it is with --leave",
				move.Path, e.Name, err)
		}
		all.Servers = append(all.Servers, server)
		s.names = append(s.names, server.Name)
		text += written(server)
	}
	if len(all.Servers)+len(m.settings.Gateway.Servers) == 0 {
		return nil, fmt.Errorf("%s has no servers to move; name some in %s, under gateway.servers", move.Path,
			filepath.Join(m.settings.Home, "interlock.yaml"))
	}
	if len(all.Servers) == 0 {
		text += "  []\n"
	}
	together := config.GatewayServers{Servers: append(all.Servers, m.settings.Gateway.Servers...)}
	if _, err := together.Ordered(); err != nil {
		return nil, err
	}
	s.plan.After = []byte(text)
	return s, nil
}

// taken are the names of servers that this client's may not have, with what is behind them: those that all clients have
// (nothing), and those of other clients (what they are).
func (m *gatewayMove) taken() (map[string]interlock.Digest, error) {
	taken := map[string]interlock.Digest{}
	files, err := filepath.Glob(config.ClientFile(m.settings.Home, "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if id == m.id || !config.ValidClient(id) {
			continue
		}
		all, err := m.settings.WithClient(id)
		if err != nil {
			return nil, err
		}
		for _, server := range all.Servers {
			taken[server.Name] = embedded.UpstreamConfig(server).Identity()
		}
	}
	for _, server := range m.settings.Gateway.Servers {
		taken[server.Name] = ""
	}
	return taken, nil
}

// free is a name for a server: what one client calls so must not be another server for another client, because what operators
// approve and rules say goes by the name.
func free(server config.GatewayServer, taken map[string]interlock.Digest) string {
	own := embedded.UpstreamConfig(server).Identity()
	name := server.Name
	for n := 2; ; n++ {
		other, is := taken[name]
		if !is || other == own {
			return name
		}
		name = fmt.Sprintf("%s-%d", server.Name, n)
	}
}

// converted is a client's server as the gateway's settings have it. Values that look secret go into files of their own.
func (m *gatewayMove) converted(e harness.ServerEntry, secrets map[string]string) config.GatewayServer {
	hidden := func(name, value string) string {
		path := filepath.Join(config.ClientDir(m.settings.Home), "secrets", m.id, e.As+"."+fileName(name)+SecretSuffix)
		secrets[path] = value
		return "file:" + path
	}
	values := func(from map[string]harness.EntryValue) map[string]string {
		to := map[string]string{}
		for name, value := range from {
			token, bearer := strings.CutPrefix(value.Text, "Bearer ")
			switch {
			case value.Variable != "" && value.Bearer:
				to[name] = "Bearer env:" + value.Variable
			case value.Variable != "":
				to[name] = "env:" + value.Variable
			case upstream.LooksSecret(name, value.Text) && bearer:
				to[name] = "Bearer " + hidden(name, token)
			case upstream.LooksSecret(name, value.Text):
				to[name] = hidden(name, value.Text)
			case upstream.LooksReference(value.Text):
				to[name] = "text:" + value.Text
			default:
				to[name] = value.Text
			}
		}
		return to
	}
	args := slices.Clone(e.Args)
	for i := upstream.SecretArg(args); i >= 0; i = upstream.SecretArg(args) {
		args[i] = "secret:" + hidden(fmt.Sprintf("argument-%d", i+1), args[i])
	}
	server := config.GatewayServer{Name: e.As, Command: e.Command, Args: args, Env: values(e.Env), Dir: e.Dir, URL: e.URL,
		Headers: values(e.Headers)}
	if e.Disabled {
		off := false
		server.Enabled = &off
	}
	return server
}

// fileName makes part of a file's name of a variable's or header's.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// written is a server as YAML. Texts are quoted as JSON quotes them, which YAML reads alike.
func written(s config.GatewayServer) string {
	quote := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return `""` // unreachable: texts and lists and maps of texts can be written
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	text := "  - name: " + quote(s.Name) + "\n"
	line := func(field string, value any, has bool) {
		if has {
			text += "    " + field + ": " + quote(value) + "\n"
		}
	}
	line("command", s.Command, s.Command != "")
	line("args", s.Args, len(s.Args) > 0)
	line("env", s.Env, len(s.Env) > 0)
	line("dir", s.Dir, s.Dir != "")
	line("url", s.URL, s.URL != "")
	line("headers", s.Headers, len(s.Headers) > 0)
	line("enabled", false, s.Enabled != nil && !*s.Enabled)
	return text
}
