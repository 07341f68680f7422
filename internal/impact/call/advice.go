package call

import (
	"strings"

	"interlock"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// maxAdvice is how much text of an instruction file is read to find that it is plain. More is for a person to look at.
const maxAdvice = 32 << 10

// adviceFiles are the files in which a project tells every agent how it is worked on. Settings, hooks and scripts of an agent
// are none of them: those run, and are asked about whatever they say.
var adviceFiles = lex.Set([]string{"claude.md", "agents.md", "agent.md", "gemini.md", ".cursorrules", ".windsurfrules",
	".clinerules", ".roorules", ".goosehints", "copilot-instructions.md", ".augment-guidelines"})

// plainAdvice reports whether an edit of a project's instruction file only changes what is said about the project: how it is
// built, tested, named. The text that goes counts as much as the text that comes, because a warning can be taken out.
// A file that is replaced as a whole is not plain: what it said before is not seen.
func plainAdvice(op string, p know.Place, added, removed []string) bool {
	base := strings.ToLower(p.Path[strings.LastIndexAny(p.Path, "/\\")+1:])
	if op != "edit" && op != "append" || p.Reach != interlock.ReachWorkspace || !adviceFiles.Has(base) {
		return false
	}
	size := 0
	for _, text := range added {
		size += len(text)
	}
	for _, text := range removed {
		size += len(text)
	}
	if size > maxAdvice || len(strings.TrimSpace(strings.Join(added, ""))) == 0 {
		return false
	}
	fresh := strings.Join(added, "\n")
	return !delicate(fresh) && !delicate(strings.Join(removed, "\n")) && !inject.Injected(fresh)
}

// delicate reports whether a text speaks of anything that an attacker would tell an agent to do, or that a project would warn
// it of: secrets, silence, what comes from or goes to a network, checks that are left out, rights, loss.
func delicate(text string) bool {
	for _, c := range text {
		if c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x2064 || c == 0xfeff || c >= 0xe0000 {
			return true // signs nobody sees
		}
	}
	if strings.Contains(text, "<!--") || strings.Contains(text, "~/.") || inject.SpeaksOfSecret(text) {
		return true
	}
	low := strings.ToLower(text)
	for _, part := range delicateParts {
		if strings.Contains(low, part) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(low, func(c rune) bool { return (c < 'a' || c > 'z') && c < 0x80 }) {
		if delicateWords.Has(word) || len(word) > 60 {
			return true
		}
	}
	return false
}

// delicateParts are parts of words and of sentences, in lower case; any one of them makes a text delicate.
var delicateParts = []string{"://", "www.", ".env", ".ssh", ".pem", "id_rsa", "id_ed25519", "--no-", "--force", "--yolo",
	"--yes", "-rf", "base64", "| sh", "| bash", "|sh", "|bash", "/etc/", "npx ", "bunx ", "uvx ", "pip install", "not tell",
	"n't tell", "not mention", "n't mention", "not ask", "n't ask", "not show the user", "not show this", "n't show the user",
	"n't show this", "not warn", "n't warn", "not report", "n't report", "not need to ask", "no need to ask", "do not run",
	"n't run", "never run", "never ask", "never tell", "never mention", "without asking", "without review", "without confirm",
	"without approv", "without telling", "without permission", "permission", "approv", "confirm", "interlock", "dangerous",
	"on behalf", "turn off", "turned off", "system prompt", "previous instruction", "all instructions", "in production",
	"to production", "as root", "root user", "skip hook", "skip the", "skip test", "skip review", "skip verif", "skip valid",
	"skip check", "skip lint", "skip ci", "skip pre", "skip sign", "skip any", "skip all", "skipping", "hidden from",
	"git push", "auto-accept", "first run", "before anything", "background"}

// delicateWords are whole words of the same kind.
var delicateWords = lex.Set([]string{"curl", "wget", "fetch", "download", "downloads", "upload", "uploads", "send", "sends",
	"post", "email", "mail", "webhook", "exfiltrate", "telemetry", "share", "publish", "forward", "report", "secretly",
	"silently", "silent", "quietly", "hide", "conceal", "bypass", "disable", "disables", "disabled", "ignore", "override",
	"overrides", "disregard", "forget", "suppress", "sudo", "admin", "chmod", "chown", "sandbox", "credential", "credentials",
	"password", "passwords", "secret", "secrets", "token", "tokens", "apikey", "exec", "trust", "trusted", "allow", "allowed",
	"allowlist", "whitelist", "grant", "accept", "deploy", "deploys", "delete", "deletes", "destroy", "drop", "wipe", "purge",
	"truncate", "rm", "kill", "ssh", "scp", "rsync", "nc", "netcat", "crontab", "cron", "osascript", "powershell", "mcp",
	"license", "vulnerability", "vulnerable", "security", "insecure", "unsafe", "verify", "verification", "lint-ignore",
	"payment", "money", "wallet", "customer", "customers", "unconditionally", "autonomously", "bypasses", "backdoor",
	"exploit", "attack", "unattended", "install", "installs"})
