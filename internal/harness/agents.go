package harness

import (
	"fmt"
	"path/filepath"
	"strings"
)

// known are all harnesses, in the order documentation names them. A new one is a row here, its value below, and its dialect in
// package hook: docs/adding-a-harness.md says what belongs into each.
func known() []knownHarness {
	return []knownHarness{{"claude", claude}, {"codex", codex}, {"gemini", gemini}, {"qwen", qwen}, {"cursor", cursor},
		{"copilot", copilot}, {"opencode", opencode}, {"windsurf", windsurf}, {"cline", cline}, {"grok", grok}}
}

type knownHarness struct {
	name  string
	value func() Harness
}

// byName returns what is known of a harness: nothing where its name is not.
func byName(name string) Harness {
	for _, h := range known() {
		if h.name == name {
			return h.value()
		}
	}
	return Harness{}
}

// ByName returns a harness that can be installed to.
func ByName(name string) (Harness, bool) {
	h := byName(name)
	if h.Events == nil {
		return Harness{}, false
	}
	return h, true
}

// Names lists the harnesses that can be installed to, in the order documentation names them.
func Names() (names []string) {
	for _, h := range known() {
		if _, installable := ByName(h.name); installable {
			names = append(names, h.name)
		}
	}
	return names
}

// All lists the harnesses that the hook answers, in the order documentation names them: those that are installed to, those whose
// registrations a person puts in place, and those that run the registrations of others.
func All() (names []string) {
	for _, h := range known() {
		names = append(names, h.name)
	}
	return names
}

// Traces are what shows of a process that a harness started it, and how the harness has to be seen before it is given a question.
type Traces struct {
	Programs []string // as it is called where it runs without an interpreter, or by its link
	Package  string   // as its interpreter names it
	Marks    []string // the variables that it sets for what it starts
	Asks     Asking
	Shows    bool // without a terminal to show a question on it waits for ever
}

// Asking says what becomes of a question that a hook gives to a harness which has nobody to put it to.
type Asking uint8

// What becomes of such a question.
const (
	AsksAlways    Asking = iota // nothing is known against it
	AsksIfItShows               // it is passed over or refused, so the harness has to be seen to show prompts
	AsksInVain                  // it waits, or is refused without a request, so the harness may not be seen to be alone
)

// TracesOf are those of one harness.
func TracesOf(name string) Traces { return byName(name).traces }

func claude() Harness {
	type handler struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Timeout int      `json:"timeout"`
	}
	return Harness{
		Name: "claude", Title: "Claude Code", grouped: true,
		Events: []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit",
			ConfigChange},
		Note:      "Running sessions read their hooks at the start: restart them.",
		settings:  in(".claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
		blockable: isBlocking,
		// A version that doesn't know args would run the bare program. The small one refuses then; the full one would
		// print its help and let the tool run. Elsewhere than on Windows a line costs a shell and refuses whatever becomes of it.
		entry: func(event, goos string, c Command) any {
			if goos == "windows" {
				return group{matching(event, "*"), []any{handler{"command", c.Binary, c.Args, patience(event, claudeTimeout)}}}
			}
			return group{matching(event, "*"),
				[]any{handler{"command", c.closed(goos, isBlocking(event) || event == ConfigChange), nil, patience(event, claudeTimeout)}}}
		},
		files: []string{".claude/settings.json", ".claude/settings.local.json"},
		traces: Traces{Programs: []string{"claude"}, Package: "@anthropic-ai/claude-code/",
			Marks: []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}},
		beside: func(p Place, dir string) []string {
			return []string{filepath.Join(dir, "settings.local.json"), p.managed(managedSettings)}
		},
		administered: true,
		switched:     Harness.switchedByClaude,
		telemetry: func(t Telemetry) string {
			var b strings.Builder
			for _, v := range t.variables() {
				fmt.Fprintf(&b, "export %s='%s'\n", v[0], v[1])
			}
			return b.String()
		},
		gaps: []gap{
			{"all", "A hook that outlives its timeout lets the tool run.", "The hook refuses within its own deadline."},
			{"all", "Commands the user types after ! and files named with @ raise no tool event.",
				"They are the user's own acts."},
			{"all, on Windows", "A hook that crashes, or whose program is gone, lets the tool run without a " +
				"word to anybody.", "doctor finds it; run it after moving or updating Interlock. Elsewhere what is " +
				"registered refuses by itself."},
			{"all", "disableAllHooks in a project's own .claude/settings.json switches the user's hooks off in " +
				"that project; without a terminal (-p) nobody is asked first.",
				"Look at that file before working in a project of others; doctor, run there, finds it. An administrator's " +
					"hooks (managed-settings.json) can't be switched off so."},
			{"all", "--bare, --safe-mode, --setting-sources without user, and --settings with disableAllHooks " +
				"leave the user's hooks out.",
				"They are its user's choice; an agent that starts another one is judged by its command. Managed settings " +
					"can't be left out."},
			{"up to 2.1", "A deny for the Agent tool, and hooks inside some subagents, were reported as not enforced.",
				"Each tool call of a subagent raises its own event; deny those."},
			{"before 2.1.268", "PermissionRequest is not raised without a terminal.", "PreToolUse is, and decides."},
			{"all", "What a file or a resource named with @ holds is put before the model and told to no hook, " +
				"so orders in it are not known to come from there.",
				"What the agent then does is judged as anything else; name such files by their path, and have them read."},
			{"all", "HTTP and asynchronous handlers never block.", "Interlock registers a command."},
		},
	}
}

func codex() Harness {
	type handler struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Windows string `json:"command_windows,omitempty"`
		Timeout int    `json:"timeout"`
	}
	return Harness{
		Name: "codex", Title: "Codex CLI", grouped: true,
		Events:    []string{"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit"},
		Note:      "Codex skips new and changed hooks without a word until they are trusted: " + codexReview + ".",
		settings:  in(".codex", "CODEX_HOME", ".codex", codexFile),
		blockable: isBlocking,
		entry: func(event, goos string, c Command) any {
			// The shorter line: Codex has its user review each line, and those reviewed would have to be again.
			h := handler{Type: "command", Command: c.line(goos), Timeout: patience(event, codexTimeout)}
			if goos != "windows" && isBlocking(event) {
				h.Command += orRefuse
			}
			if goos == "windows" {
				h.Windows = h.Command
			}
			return group{matching(event, "*"), []any{h}}
		},
		files: []string{".codex/hooks.json", ".codex/config.toml"},
		traces: Traces{Programs: []string{"codex"}, Package: "@openai/codex/",
			Marks: []string{"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI"}},
		beside:   func(_ Place, dir string) []string { return []string{filepath.Join(dir, "config.toml")} },
		reviewed: true,
		telemetry: func(t Telemetry) string {
			return fmt.Sprintf("# in config.toml of Codex\n[otel]\nlog_user_prompt = false\nmetrics_exporter = { otlp-http = { "+
				"endpoint = %q, "+"protocol = \"binary\", "+
				"headers = { \"Authorization\" = %q } } }\n", t.Base+"/v1/metrics", "Bearer "+t.Token)
		},
		gaps: []gap{
			{"all", "New and edited hooks are skipped without a word until they are trusted in a terminal; codex " +
				"exec never asks.", "doctor holds what Codex was told to trust against what is registered."},
			{"all", "--ignore-user-config, --disable hooks and features.hooks = false switch hooks off.",
				"Agents are asked about these; managed hooks can't be switched off."},
			{"all", "Writing to the standard input of a command that runs already (write_stdin) raises no event, " +
				"unless Codex asks its user about it. Only commands with a terminal can be written to.",
				"codex features disable unified_exec_tty takes the terminals away."},
			{"all", "An event does not name the shell that the agent chose for the command; Codex takes one by " +
				"the name pwsh from any directory.", "Keep Codex's sandbox on."},
			{"all", "Web search is done where the model runs and raises no event.",
				"web_search = \"disabled\" in config.toml switches it off."},
			{"before 0.169", "Calls from scripts in code mode were reported to raise no event; 0.169 raises them.",
				"Use 0.169 or later."},
			{"all", "A hook can't ask, and a hook that fails lets the tool run.",
				"An ask becomes a refusal that names the request."},
			{"all", "Whether a command failed is not told, nor anything after a tool that failed or a patch in a " +
				"command line.", "The record says success of each command that ran to its end."},
			{"all", "Codex shows the raw command beside a refusal, so redaction in the reason does not hide a secret in it.",
				"Keep secrets out of commands."},
			{"0.136", "codex exec raised no hook events.", "Use another version."},
		},
	}
}

func gemini() Harness {
	type handler struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	return Harness{
		Name: "gemini", Title: "Gemini CLI", grouped: true,
		Events: []string{"BeforeTool", "AfterTool", "BeforeAgent"},
		Note: "Gemini CLI runs no hooks in folders that are not trusted, these neither: trust the folders you work " +
			"in. Gemini CLI before March 2026 lets a tool run when a hook asks: there, install with --unattended.",
		settings: func(p Place) string {
			if p.Project != "" {
				return filepath.Join(p.Project, ".gemini", "settings.json")
			}
			return filepath.Join(moved(p, "GEMINI_CLI_HOME", p.Home, ".gemini"), "settings.json")
		},
		blockable: func(event string) bool { return event == "BeforeTool" },
		entry: func(event, goos string, c Command) any {
			return group{matching(event, ".*"), []any{handler{hookName, "command", c.gemini(goos, event), geminiTimeout}}}
		},
		files: []string{".gemini/settings.json"},
		traces: Traces{Programs: []string{"gemini"}, Package: "@google/gemini-cli/", Marks: []string{"GEMINI_CLI"},
			Asks: AsksInVain, Shows: true},
		switched:    switchedBy(".gemini/settings.json"),
		hooksConfig: true,
		telemetry:   func(t Telemetry) string { return t.inSettings("gemini") },
		gaps: []gap{
			{"all", "A hook that times out, is killed or exits with 1 lets the tool run.",
				"The hook refuses within its own deadline with exit 2."},
			{"before March 2026", "A hook's ask is taken for an allow.", "Install with --unattended."},
			{"0.61", "A hook's ask without a terminal waits for ever, and turns a refusal of Gemini CLI's own " +
				"rules into a question.", "On Linux the hook sees that nobody is there, and refuses; elsewhere install " +
				"with --unattended. Deny in Interlock what nobody may be asked about."},
			{"0.61", "In folders that are not trusted no hook runs, the user's neither; without a terminal " +
				"Gemini CLI doesn't start there.",
				"Trust the folders you work in; keep what others left in folders you don't trust away from it."},
			{"0.61", "In a trusted folder .gemini/settings.json may say hooksConfig.enabled false, or name " +
				"interlock in hooksConfig.disabled: then the user's hooks don't run either.",
				"The system's settings (/etc/gemini-cli/settings.json) count above a project's: say hooksConfig.enabled " +
					"true there. doctor --project looks for both."},
			{"0.61", "replace and write_file answer with lines of the file as it is then, so an edit of a " +
				"project's .env, which is not asked about, shows what it holds.",
				"Ask about such edits with a rule of your own."},
		},
	}
}

func qwen() Harness {
	type handler struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	return Harness{
		Name: "qwen", Title: "Qwen Code", grouped: true,
		Events:    []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"},
		Note:      "Running sessions read their hooks at the start: restart them.",
		settings:  in(".qwen", "QWEN_HOME", ".qwen", "settings.json"),
		blockable: isBlocking,
		entry: func(event, goos string, c Command) any {
			return group{matching(event, "*"),
				[]any{handler{hookName, "command", c.closed(goos, isBlocking(event)), qwenTimeout}}}
		},
		files:     []string{".qwen/settings.json"},
		traces:    Traces{Programs: []string{"qwen"}, Package: "@qwen-code/qwen-code/", Marks: []string{"QWEN_CODE"}, Asks: AsksInVain},
		switched:  switchedBy(".qwen/settings.json"),
		telemetry: func(t Telemetry) string { return t.inSettings("qwen") },
		gaps: []gap{
			{"0.24", "In a folder whose trust was not refused .qwen/settings.json may say disableAllHooks: then " +
				"the user's hooks don't run either. --bare and --safe-mode switch them off, too.",
				"The system's settings (/etc/qwen-code/settings.json) count above a project's: say disableAllHooks false " +
					"there. doctor --project looks for it."},
			{"0.24", "The tool agent can hand work to Claude Code or Codex, whose calls raise no event of Qwen Code's.",
				"Install for them, too."},
			{"0.24", "edit answers with lines of the file as it is then, so an edit of a project's .env, which is " +
				"not asked about, shows what it holds.", "Ask about such edits with a rule of your own."},
			{"all", "A hook that times out or exits with anything but 0 and 2 lets the tool run.",
				"The hook refuses within its own deadline."},
		},
	}
}

func cursor() Harness {
	type handler struct {
		Command    string `json:"command"`
		Timeout    int    `json:"timeout"`
		FailClosed bool   `json:"failClosed,omitempty"`
	}
	blocks := func(event string) bool {
		return !Listens(event) && (strings.HasPrefix(event, "before") || event == "preToolUse")
	}
	return Harness{
		Name: "cursor", Title: "Cursor", version: true,
		Events: []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "postToolUse",
			"postToolUseFailure", "beforeSubmitPrompt"},
		Note:      "User hooks are not run by Cursor's cloud agents. Restart Cursor to load them.",
		settings:  in(".cursor", "", ".cursor", "hooks.json"),
		blockable: blocks,
		entry: func(event, goos string, c Command) any {
			return handler{c.closed(goos, blocks(event)), patience(event, cursorTimeout), blocks(event)}
		},
		files:    []string{".cursor/hooks.json"},
		programs: []string{"cursor-agent"},
		traces:   Traces{Programs: []string{"cursor-agent"}, Marks: []string{"CURSOR_AGENT"}},
		gaps: []gap{
			{"all", "Cloud agents don't run the user's hooks.", "Use team or enterprise hooks there."},
			{"all", "Tab completions have events of their own.",
				"They edit what the user sees; nothing is registered for them."},
			{"all", "preToolUse and beforeReadFile can't ask.", "An ask becomes a refusal that names the request."},
			{"all", "afterShellExecution names no working directory and can't be matched to its call.",
				"postToolUse is registered instead."},
		},
	}
}

func copilot() Harness {
	type handler struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
	}
	return Harness{
		Name: "copilot", Title: "GitHub Copilot CLI", version: true,
		Events:    []string{"preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted"},
		Note:      "With --allow-all-tools Copilot passes over questions; the hook then refuses and names the request instead.",
		settings:  in(".copilot", "COPILOT_HOME", filepath.Join(".github"), "hooks", "interlock.json"),
		blockable: func(event string) bool { return event == "preToolUse" },
		entry: func(event, _ string, c Command) any {
			bash := c.posix()
			if event == "preToolUse" {
				bash += c.mended()
			}
			return handler{"command", bash, c.powershell(), patience(event, copilotTimeout)}
		},
		files: []string{".copilot/hooks/interlock.json", ".copilot/settings.json"},
		below: true,
		traces: Traces{Programs: []string{"copilot"}, Package: "@github/copilot/", Marks: []string{"COPILOT_CLI"},
			Asks: AsksIfItShows},
		beside: func(_ Place, dir string) []string { return []string{filepath.Join(filepath.Dir(dir), "settings.json")} },
		switched: switchedBy(".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json",
			".claude/settings.local.json"), // in folders that are trusted
		gaps: []gap{
			{"from 1.0.67", "A hook that outlives its timeout (30 s) always lets the tool run, and so do " +
				"parallel calls that time out.", "The hook refuses within its own deadline."},
			{"before 1.0.102", "With --allow-all-tools a question was reported to be passed over, and the tool " +
				"to run; 1.0.102 asks, or refuses where it can't.",
				"The hook only asks where it sees that prompts are on (Linux); elsewhere it refuses and names the request."},
			{"all", "disableAllHooks in .github/copilot/settings.json, settings.local.json beside it or " +
				".claude/settings.json of a trusted folder switches the user's hooks off.",
				"Agents may not write them; doctor, run there, finds it."},
			{"all", "Project hooks are not run in folders that are not trusted.", "Install for the user."},
			{"VS Code", "A deny was reported as ignored in the VS Code extension.", "Use VS Code's own approvals."},
		},
	}
}

func opencode() Harness {
	return Harness{
		Name: "opencode", Title: "OpenCode",
		Events: []string{"tool.execute.before", "tool.execute.after", "chat.message"},
		Note:   "OpenCode reads its plugins at the start: restart it. With --pure or OPENCODE_PURE it reads none.",
		settings: func(p Place) string {
			file := filepath.Join("plugins", "interlock.js")
			if p.Project != "" {
				return filepath.Join(p.Project, ".opencode", file)
			}
			return in(".config", "XDG_CONFIG_HOME", "", "opencode", file)(p)
		},
		blockable: func(event string) bool { return event == "tool.execute.before" },
		owned: &ownedFile{
			head: "// Interlock's plugin for OpenCode.\n" +
				"// `interlock install opencode` writes this file whole and `interlock uninstall opencode` removes it: keep nothing of " +
				"yours here.\n", body: "\n" + openCodePlugin,
		},
		files:  []string{".config/opencode/plugins/interlock.js"},
		below:  true,
		traces: Traces{Programs: []string{"opencode"}, Package: "opencode-ai/", Marks: []string{"OPENCODE"}},
		heads:  ".config/opencode", // because it installs packages into every .opencode it finds
		gaps: []gap{
			{"all", "--pure, OPENCODE_PURE=1, and for a plugin of a project " +
				"OPENCODE_DISABLE_PROJECT_CONFIG=1, switch plugins off without a word; another XDG_CONFIG_HOME hides the " +
				"user's.", "An agent may not start it so; doctor looks at OPENCODE_PURE."},
			{"all", "Plugins run in OpenCode's own process, one after the other: one that is loaded after " +
				"this one can change a call that was allowed, and it, custom tools and plugins' own code do what they " +
				"like.", "Agents may not write plugins, tools and opencode.json; read those of a project before you open " +
				"it."},
			{"1.18.33", "Sessions led through the newer interface of OpenCode's server (POST " +
				"/api/session/ID/prompt) call no plugins: their tools run unjudged.",
				"Work in the terminal or with opencode run; don't leave opencode serve or web running. An agent is asked " +
					"about before it starts one."},
			{"all", "A plugin that can't be loaded is left out with a line in the log.",
				"doctor compares the file with what was installed."},
			{"all", "A tool that fails by an error raises no event after the fact, so its outcome is not recorded.",
				"The decision is."},
			{"all", "Commands the user types after !, those in the templates of commands, files named with @, " +
				"formatters and language servers raise no tool event.",
				"They are the user's own acts and settings; agents may not write opencode.json."},
			{"all", "A hook can't ask.", "An ask becomes a refusal that names the request."},
		},
	}
}

func windsurf() Harness {
	return Harness{
		Name: "windsurf", Title: "Windsurf",
		files: []string{".codeium/windsurf/hooks.json"},
		printed: func(line func(event string) string) string {
			var b strings.Builder
			b.WriteString("Put into ~/.codeium/windsurf/hooks.json:\n{\n  \"hooks\": {\n")
			events := []string{"pre_user_prompt", "pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use",
				"post_run_command", "post_write_code", "post_mcp_tool_use"}
			for i, event := range events {
				fmt.Fprintf(&b, "    %q: [{\"command\": %s, \"show_output\": true}]%s\n", event, jsonText(line(event)),
					comma(i, events))
			}
			return b.String() + "  }\n}\n"
		},
		gaps: []gap{
			{"all", "A hook that fails or times out lets the tool run, and hooks can't ask.",
				"An ask becomes a refusal that names the request."},
			{"all", "What calls return is told of MCP tools only, so it is not known where values come from " +
				"that a command or a page gave.", "What is done with them is judged as anything else."},
			{"all", "Web search and browser previews raise no pre-event.", "Switch them off where that matters."},
		},
	}
}

func cline() Harness {
	return Harness{
		Name: "cline", Title: "Cline",
		files:  []string{".cline/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"},
		traces: Traces{Programs: []string{"cline"}, Marks: []string{"CLINE_ACTIVE"}},
		printed: func(line func(event string) string) string {
			text := "Make these three files executable in ~/Documents/Cline/Hooks (or .clinerules/hooks in a project):\n"
			for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"} {
				text += event + ":\n#!/bin/sh\nexec " + line(event) + "\n"
			}
			return text
		},
		gaps: []gap{
			{"all", "A hook that fails or outlives its time (30 s in the IDE, 120 s on the command line) lets " +
				"the tool run; in the IDE a failing hook beside it can undo a cancel.", "Keep no other PreToolUse hooks."},
			{"command line 3.0", "A refusal ends the run; neither the model nor the user is told why.",
				"interlock pending lists what waits for a yes, interlock audit list what was refused."},
		},
	}
}

// grok runs what is registered with others.
func grok() Harness {
	return Harness{
		Name: "grok", Title: "Grok",
		gaps: []gap{
			{"all", "Arguments over 128 KiB arrive cut short.", "The hook refuses such calls."},
			{"all", "A hook has 5 s by default, and one that fails or times out lets the tool run.",
				"Register with --deadline 3s."},
		},
	}
}
