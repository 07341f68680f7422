package impact

import (
	"strings"

	"interlock"
)

// hintVerbs are the verbs that are read in prose and what they do.
var hintVerbs = map[string]string{
	"delete": "delete", "remove": "delete", "erase": "delete", "wipe": "delete", "destroy": "delete", "drop": "delete", "purge": "delete",
	"unlink": "delete", "shred": "delete", "truncate": "delete", "rm": "delete", "format": "delete",
	"write": "write", "modify": "write", "append": "write", "overwrite": "write", "edit": "write", "replace": "write", "save": "write",
	"store": "write", "add": "write", "insert": "write", "create": "write", "copy": "write", "move": "write", "change": "write", "inject": "write", "tamper": "write",
	"read": "read", "print": "read", "display": "read", "open": "read", "output": "read", "dump": "read", "extract": "read", "view": "read", "access": "read",
	"steal": "steal", "exfiltrate": "steal", "leak": "steal", "harvest": "steal",
	"send": "send", "upload": "send", "post": "send", "transmit": "send", "forward": "send", "email": "send", "share": "send", "submit": "send",
	"download": "fetch", "fetch": "fetch", "retrieve": "fetch",
	"kill": "kill", "terminate": "kill", "shutdown": "halt", "reboot": "halt",
	"disable": "disable", "bypass": "disable", "circumvent": "disable", "deactivate": "disable", "evade": "disable", "tamper-with": "disable", "uninstall": "disable",
	"grant": "grant", "escalate": "grant", "elevate": "grant", "chmod": "grant", "impersonate": "grant", "give": "give",
	"transfer": "spend", "wire": "spend", "withdraw": "spend",
}

var (
	hintSecrets = set([]string{"password", "passwords", "credentials", "credential", "secrets", "tokens", "token", "keys", "passwd", "shadow", "private-key", "api-key",
		"cookies", "ssn", "environment", "secret", "passphrase", "id_rsa", "wallet"})
	hintWide     = set([]string{"all", "every", "entire", "everything", "whole", "any", "recursively", "completely", "permanently"})
	hintDefences = set([]string{"firewall", "antivirus", "selinux", "apparmor", "auditd", "audit", "auditing", "logging", "security", "safety", "guardrail", "guardrails",
		"sandbox", "interlock", "monitoring", "approval", "approvals", "authentication", "2fa", "mfa", "defender", "protections", "protection", "restrictions", "alarm", "alarms", "verification", "edr", "iptables", "ufw"})
	hintDotfiles = set([]string{".env", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".ssh", ".aws", ".netrc", ".npmrc", ".pypirc", ".git-credentials",
		".bash_history", ".gitconfig", ".kube", ".docker", ".gnupg"})
	// proseWords are commands whose names are also everyday words; in prose they need an option or a path behind them.
	proseWords = set([]string{"make", "find", "test", "sort", "time", "watch", "cut", "join", "split", "read", "cat", "kill", "who", "man", "more", "less", "last", "at",
		"wall", "write", "file", "install", "top", "set", "head", "tail", "yes", "look", "go", "python", "node", "service", "host", "link", "users", "date", "open", "code",
		"which", "type", "wait", "exit", "sleep", "paste", "fold", "let", "for", "if", "in", "history", "help", "return", "source", "export", "enable", "docker", "script",
		"route", "stat", "touch", "factor", "fuser", "locate", "nice", "pr", "tee", "true", "false", "trap", "eval", "mail", "screen", "do", "then", "while", "up", "select", "function", "git", "update", "start", "stop", "shutdown", "reboot", "halt", "clear", "reset", "print", "echo", "users", "groups", "id", "expand", "column", "look", "dd", "w", "x", "case", "local", "bind", "jobs", "complete", "command", "test", "hash", "times", "mount", "patch", "compress", "transfer", "image", "convert", "compare", "display", "mesg", "play", "record", "fc", "bg", "fg"})
)

// said records what one verb of a sentence does.
func (s *scan) said(act, verb string, at int, p *saying) {
	via := "hint " + verb
	impact := func(kind interlock.ImpactKind, reach interlock.Reach, r interlock.Reversibility, target string, traits ...string) {
		s.add(interlock.Impact{Kind: kind, Target: target, Reach: reach, Reversibility: r, Via: via, Confidence: interlock.Inferred, Traits: traits})
	}
	near := p.low[min(at+1, len(p.low)):min(len(p.low), at+8)]
	if act == "write" && (verb == "copy" || verb == "move") && p.secret && len(p.urls) > 0 {
		act = "send"
	}
	switch act {
	case "delete":
		s.saidDelete(via, near, p)
	case "write", "read":
		kind := interlock.ImpactWrite
		if act == "read" {
			kind = interlock.ImpactRead
		}
		for _, path := range p.paths[:min(len(p.paths), 8)] {
			s.touch(path, interlock.Impact{Kind: kind, Via: via, Confidence: interlock.Inferred})
		}
		s.saidInside(kind, via, p)
	case "steal":
		impact(interlock.ImpactNetwork, interlock.ReachExternal, interlock.Irreversible, "", TraitSecretSend, TraitUpload, TraitMalice)
	case "send":
		s.saidSend(via, p)
	case "fetch":
		for _, url := range p.urls[:min(len(p.urls), 4)] {
			s.request("GET", url, nil, "")
			for _, word := range p.low {
				if word == "execute" || word == "run" || word == "executes" || word == "runs" {
					impact(interlock.ImpactExecute, interlock.ReachSystem, interlock.Irreversible, cleanURL(url), TraitDownloadRun)
				}
			}
		}
	case "kill":
		if has(p.low, "process", "processes", "daemon", "pid", "service", "services") {
			reach, r := interlock.ReachWorkspace, interlock.Reversible
			if p.wide || has(p.low, "system", "running", "daemon") && has(p.low, "them", "iterates", "identifies") {
				reach, r = interlock.ReachSystem, interlock.Irreversible
			}
			impact(interlock.ImpactSpawn, reach, r, "")
		}
	case "halt":
		if has(p.low, "system", "machine", "computer", "server", "host", "now") {
			impact(interlock.ImpactSpawn, interlock.ReachSystem, interlock.Window, "")
		}
	case "disable":
		for _, word := range near {
			if hintDefences[word] {
				impact(interlock.ImpactConfigure, interlock.ReachSystem, interlock.Window, word, TraitDefence)
				break
			}
		}
	case "grant":
		if has(near, "root", "admin", "administrator", "sudo", "privileges", "privilege", "permissions", "permanent", "access", "777") {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Window, "", TraitAccount)
		}
	case "give":
		if has(near, "everyone", "everybody", "anyone", "public", "world", "others") && has(near, "access", "permission", "permissions", "rights", "privileges") {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Window, "", TraitAccount)
		}
	case "spend":
		if has(p.low, "money", "funds", "bitcoin", "dollars", "usd", "eur", "payment", "ethereum", "btc") || strings.ContainsAny(strings.Join(p.words, " "), "$€£") && has(near, "to", "from") {
			impact(interlock.ImpactSpend, interlock.ReachExternal, interlock.Window, "")
		}
	}
}

func (s *scan) saidDelete(via string, near []string, p *saying) {
	for _, path := range p.paths[:min(len(p.paths), 8)] {
		i := interlock.Impact{Kind: interlock.ImpactDelete, Via: via, Confidence: interlock.Inferred}
		if s.place(path).Reach == interlock.ReachWorkspace {
			i.Reversibility = interlock.Window
		}
		s.touch(path, i)
	}
	s.saidInside(interlock.ImpactDelete, via, p)
	wide, production := false, false
	for _, word := range near {
		wide = wide || hintWide[word]
		production = production || word == "production" || word == "prod"
	}
	i := interlock.Impact{Kind: interlock.ImpactDelete, Reach: interlock.ReachWorkspace, Reversibility: interlock.Window, Via: via, Confidence: interlock.Inferred}
	switch {
	case production:
		i.Reach, i.Reversibility = interlock.ReachProduction, interlock.Irreversible
	case wide && has(near, "backups", "database", "databases", "disk", "disks", "drive", "partition", "filesystem", "system", "root", "users", "everything", "tables", "accounts", "emails"):
		i.Reversibility, i.Traits = interlock.Irreversible, []string{TraitBulk}
	case len(p.paths)+len(p.inside) > 0:
		return
	}
	s.add(i)
}

// saidInside records something done to what is in a directory that is named: it reaches as far, but the directory's own
// traits are not those of what it holds.
func (s *scan) saidInside(kind interlock.ImpactKind, via string, p *saying) {
	for _, path := range p.inside[:min(len(p.inside), 8)] {
		at := s.place(path)
		r := usualReversibility(kind)
		if kind == interlock.ImpactDelete && at.Reach == interlock.ReachWorkspace {
			r = interlock.Window
		}
		s.add(interlock.Impact{Kind: kind, Target: at.Path + "/*", Reach: at.Reach, Reversibility: r, Via: via, Confidence: interlock.Inferred, Traits: []string{TraitGlob}})
	}
}

func (s *scan) saidSend(via string, p *saying) {
	traits := []string{TraitUpload}
	if p.secret {
		traits = append(traits, TraitSecretSend)
	}
	for _, path := range p.paths[:min(len(p.paths), 8)] {
		if hasTrait(s.place(path).Traits, TraitSecret) {
			traits = append(traits, TraitSecretSend)
		}
	}
	for _, url := range p.urls[:min(len(p.urls), 4)] {
		plain, _ := plainHost(url)
		reach, more := s.host(plain)
		r := interlock.Irreversible
		if reach == interlock.ReachWorkspace {
			r = interlock.Reversible
			traits = []string{TraitUpload}
		}
		s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: cleanURL(url), Reach: reach, Reversibility: r, Via: via,
			Confidence: interlock.Inferred, Traits: append(append([]string(nil), traits...), more...)})
	}
	if p.address != "" {
		i := interlock.Impact{Kind: interlock.ImpactMessage, Target: p.address, Reach: interlock.ReachExternal, Reversibility: interlock.Irreversible,
			Via: via, Confidence: interlock.Inferred}
		if p.secret {
			i.Traits = []string{TraitSecretSend}
		}
		s.add(i)
	}
}

func has(words []string, any ...string) bool {
	for _, w := range words {
		for _, a := range any {
			if w == a {
				return true
			}
		}
	}
	return false
}

// quoted analyses commands in back-quotes and returns the sentence without them.
func (s *scan) quoted(text string, p *saying) string {
	for n := 0; n < 32; n++ {
		start := strings.IndexByte(text, '`')
		if start < 0 {
			break
		}
		length := strings.IndexByte(text[start+1:], '`')
		if length < 0 {
			break
		}
		inner := strings.TrimSpace(text[start+1 : start+1+length])
		lead := strings.Fields(strings.ToLower(text[:start]))
		s.mentioned(inner, lead)
		text = text[:start] + " " + text[start+length+2:]
	}
	return text
}

// mentioned analyses one quoted piece as a command if it is one: a known command with arguments, or one that the words
// before it say is run.
func (s *scan) mentioned(inner string, lead []string) {
	inner = strings.TrimPrefix(inner, "$ ")
	word, arguments, _ := strings.Cut(inner, " ")
	base := word[strings.LastIndexByte(word, '/')+1:]
	known := s.know.described(base)
	if !known && looksLikeSQL(inner) {
		if !deniedAt(lead, len(lead)) {
			s.nested(interlock.KindSQL, inner)
		}
		return
	}
	runs := len(lead) > 0 && has(lead[max(0, len(lead)-4):], "run", "execute", "running", "executing", "runs", "executes", "using", "use", "via", "with", "command")
	if !known || arguments == "" && !runs {
		return
	}
	if deniedAt(lead, len(lead)) || discussedAt(lead, len(lead)) {
		s.add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "hint " + base,
			Confidence: interlock.Inferred, Traits: []string{TraitNegated}})
		return
	}
	s.nested(interlock.KindShell, inner)
}

// commandInProse analyses a command that stands in a sentence without quotes: a known one with an option or a path
// right behind it.
func (s *scan) commandInProse(text string, p *saying) {
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i++ {
		word := strings.TrimLeft(fields[i], "\"'(`")
		if word == "" || word[0] < 'a' || word[0] > 'z' || !s.know.described(word) {
			continue
		}
		next := fields[i+1]
		option := next[0] == '-' && len(next) > 1 && next[1] != '-' || strings.HasPrefix(next, "--") && len(next) > 4
		place := (next[0] == '/' || strings.HasPrefix(next, "~/") || strings.HasPrefix(next, "http")) && !proseWords[word]
		after := word == "sudo" || i > 0 && has([]string{strings.ToLower(strings.Trim(fields[i-1], ":'\"`"))}, "run", "execute", "$", "running", "executing", "issue", "command")
		if !option && !place && !(after && !proseWords[word]) {
			continue
		}
		lead := make([]string, 0, i)
		for _, f := range fields[:i] {
			lead = append(lead, strings.ToLower(strings.Trim(f, ",.;:!?\"'`()")))
		}
		if deniedAt(lead, len(lead)) || discussedAt(lead, len(lead)) {
			s.add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "hint " + word,
				Confidence: interlock.Inferred, Traits: []string{TraitNegated}})
			return
		}
		s.nested(interlock.KindShell, strings.TrimRight(proseCommand(fields[i:], word), ".\"'`)"))
		return
	}
}

// proseCommand ends a command where the sentence goes on.
func proseCommand(fields []string, first string) string {
	out := []string{first}
	for _, f := range fields[1:] {
		switch f {
		case "to", "and", "which", "so", "in", "then", "command", "without", "from", "because", "as", "on", "for":
			return strings.Join(out, " ")
		}
		ends := strings.HasSuffix(f, "'") || strings.HasSuffix(f, "\"") || strings.HasSuffix(f, ",")
		out = append(out, strings.TrimRight(f, ",'\""))
		if ends && !strings.ContainsAny(f[:1], "'\"") {
			break
		}
	}
	return strings.Join(out, " ")
}
