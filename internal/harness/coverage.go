package harness

// A Gap is a way for a harness's agent to act that raises no event a hook could stop, or a condition under which the events
// that are raised don't stop it. No hook can close these; the sandbox, the gateway or the harness's own settings can.
type Gap struct {
	Agent    string // harness, as in --agent
	Versions string // for which it is known
	What     string
	Instead  string // what helps
}

// Gaps lists the known gaps, by harness in the order documentation names them. docs/coverage.md is made from this table.
func Gaps() []Gap {
	return []Gap{
		{"claude", "all", "A hook that outlives its timeout lets the tool run.", "The hook refuses within its own deadline."},
		{"claude", "all", "Commands the user types after ! and files named with @ raise no tool event.",
			"They are the user's own acts."},
		{"claude", "all, on Windows", "A hook that crashes, or whose program is gone, lets the tool run without a " +
			"word to anybody.", "doctor finds it; run it after moving or updating Interlock. Elsewhere what is " +
			"registered refuses by itself."},
		{"claude", "all", "disableAllHooks in a project's own .claude/settings.json switches the user's hooks off in " +
			"that project; without a terminal (-p) nobody is asked first.",
			"Look at that file before working in a project of others; doctor, run there, finds it. An administrator's " +
				"hooks (managed-settings.json) can't be switched off so."},
		{"claude", "all", "--bare, --safe-mode, --setting-sources without user, and --settings with disableAllHooks " +
			"leave the user's hooks out.",
			"They are its user's choice; an agent that starts another one is judged by its command. Managed settings " +
				"can't be left out."},
		{"claude", "up to 2.1", "A deny for the Agent tool, and hooks inside some subagents, were reported as not enforced.",
			"Each tool call of a subagent raises its own event; deny those."},
		{"claude", "before 2.1.268", "PermissionRequest is not raised without a terminal.", "PreToolUse is, and decides."},
		{"claude", "all", "What a file or a resource named with @ holds is put before the model and told to no hook, " +
			"so orders in it are not known to come from there.",
			"What the agent then does is judged as anything else; name such files by their path, and have them read."},
		{"claude", "all", "HTTP and asynchronous handlers never block.", "Interlock registers a command."},
		{"codex", "all", "New and edited hooks are skipped without a word until they are trusted in a terminal; codex " +
			"exec never asks.", "doctor holds what Codex was told to trust against what is registered."},
		{"codex", "all", "--ignore-user-config, --disable hooks and features.hooks = false switch hooks off.",
			"Agents are asked about these; managed hooks can't be switched off."},
		{"codex", "all", "Writing to the standard input of a command that runs already (write_stdin) raises no event, " +
			"unless Codex asks its user about it. Only commands with a terminal can be written to.",
			"codex features disable unified_exec_tty takes the terminals away."},
		{"codex", "all", "An event does not name the shell that the agent chose for the command; Codex takes one by " +
			"the name pwsh from any directory.", "Keep Codex's sandbox on."},
		{"codex", "all", "Web search is done where the model runs and raises no event.",
			"web_search = \"disabled\" in config.toml switches it off."},
		{"codex", "before 0.169", "Calls from scripts in code mode were reported to raise no event; 0.169 raises them.",
			"Use 0.169 or later."},
		{"codex", "all", "A hook can't ask, and a hook that fails lets the tool run.",
			"An ask becomes a refusal that names the request."},
		{"codex", "all", "Whether a command failed is not told, nor anything after a tool that failed or a patch in a " +
			"command line.", "The record says success of each command that ran to its end."},
		{"codex", "all", "Codex shows the raw command beside a refusal, so redaction in the reason does not hide a secret in it.",
			"Keep secrets out of commands."},
		{"codex", "0.136", "codex exec raised no hook events.", "Use another version."},
		{"gemini", "all", "A hook that times out, is killed or exits with 1 lets the tool run.",
			"The hook refuses within its own deadline with exit 2."},
		{"gemini", "before March 2026", "A hook's ask is taken for an allow.", "Install with --unattended."},
		{"gemini", "0.61", "A hook's ask without a terminal waits for ever, and turns a refusal of Gemini CLI's own " +
			"rules into a question.", "On Linux the hook sees that nobody is there, and refuses; elsewhere install " +
			"with --unattended. Deny in Interlock what nobody may be asked about."},
		{"gemini", "0.61", "In folders that are not trusted no hook runs, the user's neither; without a terminal " +
			"Gemini CLI doesn't start there.",
			"Trust the folders you work in; keep what others left in folders you don't trust away from it."},
		{"gemini", "0.61", "In a trusted folder .gemini/settings.json may say hooksConfig.enabled false, or name " +
			"interlock in hooksConfig.disabled: then the user's hooks don't run either.",
			"The system's settings (/etc/gemini-cli/settings.json) count above a project's: say hooksConfig.enabled " +
				"true there. doctor --project looks for both."},
		{"gemini", "0.61", "replace and write_file answer with lines of the file as it is then, so an edit of a " +
			"project's .env, which is not asked about, shows what it holds.",
			"Ask about such edits with a rule of your own."},
		{"qwen", "0.24", "In a folder whose trust was not refused .qwen/settings.json may say disableAllHooks: then " +
			"the user's hooks don't run either. --bare and --safe-mode switch them off, too.",
			"The system's settings (/etc/qwen-code/settings.json) count above a project's: say disableAllHooks false " +
				"there. doctor --project looks for it."},
		{"qwen", "0.24", "The tool agent can hand work to Claude Code or Codex, whose calls raise no event of Qwen Code's.",
			"Install for them, too."},
		{"qwen", "0.24", "edit answers with lines of the file as it is then, so an edit of a project's .env, which is " +
			"not asked about, shows what it holds.", "Ask about such edits with a rule of your own."},
		{"qwen", "all", "A hook that times out or exits with anything but 0 and 2 lets the tool run.",
			"The hook refuses within its own deadline."},
		{"cursor", "all", "Cloud agents don't run the user's hooks.", "Use team or enterprise hooks there."},
		{"cursor", "all", "Tab completions have events of their own.",
			"They edit what the user sees; nothing is registered for them."},
		{"cursor", "all", "preToolUse and beforeReadFile can't ask.", "An ask becomes a refusal that names the request."},
		{"cursor", "all", "afterShellExecution names no working directory and can't be matched to its call.",
			"postToolUse is registered instead."},
		{"copilot", "from 1.0.67", "A hook that outlives its timeout (30 s) always lets the tool run, and so do " +
			"parallel calls that time out.", "The hook refuses within its own deadline."},
		{"copilot", "before 1.0.102", "With --allow-all-tools a question was reported to be passed over, and the tool " +
			"to run; 1.0.102 asks, or refuses where it can't.",
			"The hook only asks where it sees that prompts are on (Linux); elsewhere it refuses and names the request."},
		{"copilot", "all", "disableAllHooks in .github/copilot/settings.json, settings.local.json beside it or " +
			".claude/settings.json of a trusted folder switches the user's hooks off.",
			"Agents may not write them; doctor, run there, finds it."},
		{"copilot", "all", "Project hooks are not run in folders that are not trusted.", "Install for the user."},
		{"copilot", "VS Code", "A deny was reported as ignored in the VS Code extension.", "Use VS Code's own approvals."},
		{"opencode", "all", "--pure, OPENCODE_PURE=1, and for a plugin of a project " +
			"OPENCODE_DISABLE_PROJECT_CONFIG=1, switch plugins off without a word; another XDG_CONFIG_HOME hides the " +
			"user's.", "An agent may not start it so; doctor looks at OPENCODE_PURE."},
		{"opencode", "all", "Plugins run in OpenCode's own process, one after the other: one that is loaded after " +
			"this one can change a call that was allowed, and it, custom tools and plugins' own code do what they " +
			"like.", "Agents may not write plugins, tools and opencode.json; read those of a project before you open " +
			"it."},
		{"opencode", "1.18.33", "Sessions led through the newer interface of OpenCode's server (POST " +
			"/api/session/ID/prompt) call no plugins: their tools run unjudged.",
			"Work in the terminal or with opencode run; don't leave opencode serve or web running. An agent is asked " +
				"about before it starts one."},
		{"opencode", "all", "A plugin that can't be loaded is left out with a line in the log.",
			"doctor compares the file with what was installed."},
		{"opencode", "all", "A tool that fails by an error raises no event after the fact, so its outcome is not recorded.",
			"The decision is."},
		{"opencode", "all", "Commands the user types after !, those in the templates of commands, files named with @, " +
			"formatters and language servers raise no tool event.",
			"They are the user's own acts and settings; agents may not write opencode.json."},
		{"opencode", "all", "A hook can't ask.", "An ask becomes a refusal that names the request."},
		{"windsurf", "all", "A hook that fails or times out lets the tool run, and hooks can't ask.",
			"An ask becomes a refusal that names the request."},
		{"windsurf", "all", "What calls return is told of MCP tools only, so it is not known where values come from " +
			"that a command or a page gave.", "What is done with them is judged as anything else."},
		{"windsurf", "all", "Web search and browser previews raise no pre-event.", "Switch them off where that matters."},
		{"cline", "all", "A hook that fails or outlives its time (30 s in the IDE, 120 s on the command line) lets " +
			"the tool run; in the IDE a failing hook beside it can undo a cancel.", "Keep no other PreToolUse hooks."},
		{"cline", "command line 3.0", "A refusal ends the run; neither the model nor the user is told why.",
			"interlock pending lists what waits for a yes, interlock audit list what was refused."},
		{"grok", "all", "Arguments over 128 KiB arrive cut short.", "The hook refuses such calls."},
		{"grok", "all", "A hook has 5 s by default, and one that fails or times out lets the tool run.",
			"Register with --deadline 3s."},
	}
}

// GapsOf lists the gaps of one harness.
func GapsOf(agent string) []Gap {
	var list []Gap
	for _, g := range Gaps() {
		if g.Agent == agent {
			list = append(list, g)
		}
	}
	return list
}
