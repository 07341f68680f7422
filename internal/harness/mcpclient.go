package harness

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Client is an MCP client whose servers can be moved behind the gateway. The zero value is none.
type Client struct {
	Name  string
	Title string
	Note  string // what the person installing must do or know afterwards
	Entry string // what the gateway is told with --client; default: Name

	file      func(Place) string
	project   string // the file below a project; empty: it has none
	member    string // of the file, that holds the servers
	toml      bool
	variables variables
	listed    bool // the command is a list with its arguments, and the variables are called environment
	sse       bool // a plain url means the transport before streamable HTTP
	entry     func(Command, map[string]string) any
}

// variables is how a client writes what it fills in before it starts a server.
type variables int

const (
	noVariables     variables = iota
	bracedVariables           // ${NAME}
	prefixVariables           // ${env:NAME}
	shellVariables            // $NAME and ${NAME}
	curlyVariables            // {env:NAME}, and {file:PATH} for what a file holds
)

// An mcpEntry is a server as most clients write it.
type mcpEntry struct {
	Type    string            `json:"type,omitempty" toml:"type,omitempty"`
	Command string            `json:"command" toml:"command"`
	Args    []string          `json:"args" toml:"args"`
	Env     map[string]string `json:"env,omitempty" toml:"env,omitempty"`
	Tools   []string          `json:"tools,omitempty" toml:"tools,omitempty"`
	EnvVars []string          `json:"-" toml:"env_vars,omitempty"`
	Startup int               `json:"-" toml:"startup_timeout_sec,omitempty"`
}

func plainEntry(c Command, env map[string]string) any {
	return mcpEntry{Command: c.Binary, Args: c.Args, Env: env}
}

func typedEntry(kind string, tools ...string) func(Command, map[string]string) any {
	return func(c Command, env map[string]string) any {
		return mcpEntry{Type: kind, Command: c.Binary, Args: c.Args, Env: env, Tools: tools}
	}
}

// A listedEntry is a server as OpenCode writes it.
type listedEntry struct {
	Type    string            `json:"type"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"environment,omitempty"`
	Timeout int               `json:"timeout"`
}

// openCodeTimeout is how long OpenCode waits for the gateway, in milliseconds, also while a call is decided; 5 s by itself.
const openCodeTimeout = 60_000

// codexStartup is how long Codex waits for the gateway, in seconds: the gateway itself waits for its servers first.
const codexStartup = 30

// Clients lists the clients by name, in the order documentation names them.
func Clients() []string {
	return []string{"claude-code", "claude-desktop", "cursor", "vscode", "codex", "windsurf", "gemini", "qwen",
		"copilot", "opencode"}
}

// ClientByName returns a client. Claude Code goes by the name of its hook, claude, as well.
func ClientByName(name string) (Client, bool) {
	const servers, restart = "mcpServers", "Restart it, or reload its MCP servers."
	switch name {
	case "claude-code", "claude":
		return Client{Name: "claude-code", Title: "Claude Code", member: servers, project: ".mcp.json",
			variables: bracedVariables, entry: typedEntry("stdio"),
			Note: "Running sessions keep their servers: restart them.",
			file: func(p Place) string { return moved(p, "CLAUDE_CONFIG_DIR", p.Home, ".claude.json") }}, true
	case "claude-desktop":
		return Client{Name: name, Title: "Claude Desktop", member: servers, entry: plainEntry,
			Note: "Quit Claude Desktop and open it again.",
			file: func(p Place) string { return applicationData(p, "Claude", "claude_desktop_config.json") }}, true
	case "cursor":
		return Client{Name: name, Title: "Cursor", member: servers, project: filepath.Join(".cursor", "mcp.json"),
			variables: prefixVariables, entry: plainEntry, Note: restart,
			file: func(p Place) string { return filepath.Join(p.Home, ".cursor", "mcp.json") }}, true
	case "vscode":
		return Client{Name: name, Title: "VS Code", member: "servers", project: filepath.Join(".vscode", "mcp.json"),
			variables: prefixVariables, entry: typedEntry("stdio"),
			Note: "Start the server interlock from the command MCP: List Servers, and trust it.",
			file: func(p Place) string { return applicationData(p, "Code", "User", "mcp.json") }}, true
	case "codex":
		return Client{Name: name, Title: "Codex CLI", member: "mcp_servers", toml: true,
			Note: "Running sessions keep their servers: restart them.",
			entry: func(c Command, env map[string]string) any {
				e := mcpEntry{Command: c.Binary, Args: c.Args, Startup: codexStartup}
				for _, name := range slices.Sorted(maps.Keys(env)) {
					e.EnvVars = append(e.EnvVars, name)
				}
				return e
			},
			file: func(p Place) string {
				return moved(p, "CODEX_HOME", filepath.Join(p.Home, ".codex"), "config.toml")
			}}, true
	case "windsurf":
		return Client{Name: name, Title: "Windsurf", member: servers, variables: prefixVariables,
			entry: plainEntry, Note: restart,
			file: func(p Place) string { return filepath.Join(p.Home, ".codeium", "windsurf", "mcp_config.json") }}, true
	case "gemini", "qwen":
		h, _ := ByName(name) // hooks and servers stand in one file
		return Client{Name: name, Title: h.Title, member: servers, project: filepath.Join("."+name, "settings.json"),
			variables: shellVariables, sse: true, entry: plainEntry,
			Note: "Running sessions keep their servers: restart them.",
			file: func(p Place) string { p.Project = ""; return h.Settings(p) }}, true
	case "copilot":
		return Client{Name: name, Title: "GitHub Copilot CLI", member: servers, variables: bracedVariables,
			entry: typedEntry("local", "*"),
			Note:  "Running sessions keep their servers: restart them.",
			file: func(p Place) string {
				return moved(p, "COPILOT_HOME", filepath.Join(p.Home, ".copilot"), "mcp-config.json")
			}}, true
	case "opencode":
		return Client{Name: name, Title: "OpenCode", member: "mcp", project: "opencode.json",
			variables: curlyVariables, listed: true,
			Note: "Running sessions keep their servers: restart them.",
			entry: func(c Command, env map[string]string) any {
				return listedEntry{Type: "local", Command: c.argv(), Env: env, Timeout: openCodeTimeout}
			},
			file: func(p Place) string {
				return in(".config", "XDG_CONFIG_HOME", "", "opencode", "opencode.json")(Place{Home: p.Home, Getenv: p.Getenv})
			}}, true
	}
	return Client{}, false
}

// entryID is what the gateway is told with --client.
func (c Client) entryID() string {
	if c.Entry != "" {
		return c.Entry
	}
	return c.Name
}

// Settings is the file that holds the client's servers; empty if it keeps none where it is asked for.
func (c Client) Settings(p Place) string {
	path := ""
	switch {
	case p.Project == "":
		path = c.file(p)
	case c.project != "":
		path = filepath.Join(p.Project, c.project)
	}
	if c.listed && !exists(path) && exists(path+"c") { // JSON with comments may say so in its name
		path += "c"
	}
	return path
}

// moved is a file in a directory, or in the one that an environment variable names instead.
func moved(p Place, variable, dir, file string) string {
	if p.Getenv != nil {
		if other := p.Getenv(variable); filepath.IsAbs(other) {
			dir = other
		}
	}
	return filepath.Join(dir, file)
}

// applicationData is where programs with windows keep their settings.
func applicationData(p Place, parts ...string) string {
	base := filepath.Join(p.Home, ".config")
	switch p.GOOS {
	case "darwin":
		base = filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		base = filepath.Join(p.Home, "AppData", "Roaming")
		if p.Getenv != nil && filepath.IsAbs(p.Getenv("APPDATA")) {
			base = p.Getenv("APPDATA")
		}
	default:
		if p.Getenv != nil && filepath.IsAbs(p.Getenv("XDG_CONFIG_HOME")) {
			base = p.Getenv("XDG_CONFIG_HOME")
		}
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// serverName makes a name that the gateway takes of whatever a client calls a server.
func serverName(name string) string {
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name), "-")
	const longest = 60 // leaves room for what tells two of one name apart
	if clean == "" {
		return "server"
	}
	return clean[:min(len(clean), longest)]
}
