package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// What prose says something is done to decides as much as the verb: "delete the backups" and "delete the output" begin
// alike. This file knows the things whose loss or change is grave when no path is named.

// saidPhrases turn verbs of two words into the one they mean.
var saidPhrases = map[string]string{
	"turn off": "disable", "turning off": "disable", "switch off": "disable", "switching off": "disable", "get around": "bypass", "getting around": "bypass", "work around": "bypass",
	"get rid": "delete", "shut down": "shutdown", "shutting down": "shutdown", "power off": "shutdown", "wipe out": "wipe", "blow away": "wipe", "take down": "shutdown", "opt out": "keep",
}

// foldPhrases joins verbs of two words in a sentence, so that the rest of the reading sees one verb.
func (p *saying) foldPhrases() {
	for i := 0; i+1 < len(p.low); i++ {
		if one := saidPhrases[p.low[i]+" "+p.low[i+1]]; one != "" {
			p.low[i], p.low[i+1] = one, ""
		}
	}
}

// clause returns the words behind a verb that belong to it: up to where another clause begins.
func (p *saying) clause(at int) []string {
	end := at + 1
	for end < len(p.low) && end <= at+14 {
		if w := p.low[end]; end > at+1 && (w == "so" || w == "because" || w == "since" || w == "before" || w == "after" || w == "when" || w == "then" || w == "if" || w == "while" || w == "but") {
			break
		}
		end++
	}
	return p.low[at+1 : end]
}

// A grave is one thing whose loss is grave.
type grave struct {
	reach interlock.Reach
	trait string
}

// graveObject returns what in a clause behind a deleting verb is grave to lose, if anything is.
func graveObject(clause []string) (grave, bool) {
	wide := false
	for i, w := range clause {
		next, before := inject.WordAt(clause, i+1), inject.WordAt(clause, i-1)
		wide = wide || w == "all" || w == "every" || w == "entire" || w == "everything" || w == "whole"
		switch w {
		case "disk", "disks", "drive", "partition", "partitions":
			if next != "image" && next != "images" && next != "usage" && next != "cache" && next != "file" && before != "virtual" && before != "ram" &&
				(wide || before == "main" || before == "hard" || before == "system" || before == "boot" || before == "root" || before == "c") {
				return grave{interlock.ReachSystem, fact.TraitDevice}, true
			}
		case "backups", "snapshots":
			if next != "folder" && next != "directory" {
				return grave{interlock.ReachWorkspace, fact.TraitBackup}, true
			}
		case "snapshot", "backup":
			if (wide || before == "the" || before == "latest" || before == "last" || before == "only") && next != "file" && next != "files" && next != "copy" && next != "directory" &&
				next != "folder" && next != "script" && next != "table" && next != "test" && next != "tests" && (wide || lex.Has(clause, "volume", "database", "server", "production", "instance")) {
				return grave{interlock.ReachWorkspace, fact.TraitBackup}, true
			}
		case "log", "logs", "history", "trail":
			if lex.Has([]string{before}, "audit", "system", "security", "event", "access", "shell", "bash", "command", "auth") && (w != "history" || before != "access") &&
				(before == "audit" || before == "security" || before == "event" || before == "auth" || w == "history" || before == "system") {
				return grave{interlock.ReachSystem, fact.TraitLog}, true
			}
		case "accounts", "users":
			if wide || before == "user" || before == "other" {
				return grave{interlock.ReachSystem, fact.TraitAccount}, wide || lex.Has(clause, "server", "system", "production", "organisation", "organization", "company", "domain")
			}
		case "emails", "mails", "inbox", "mailbox", "contacts", "photos", "messages":
			if wide && (lex.Has(clause, "my", "their", "your", "his", "her", "permanently") || before == "my") {
				return grave{interlock.ReachExternal, fact.TraitBulk}, true
			}
		case "repository", "repo", "organization", "organisation":
			if wide && lex.Has(clause, "github", "gitlab", "bitbucket", "remote", "upstream", "server") {
				return grave{interlock.ReachExternal, fact.TraitBulk}, true
			}
		case "home":
			if (next == "directory" || next == "folder") && everyFile(clause[:i]) {
				return grave{interlock.ReachHome, fact.TraitBulk}, true
			}
		case "filesystem", "machine", "computer", "server", "servers":
			if wide && (before == "the" || before == "this" || before == "file" || before == "entire") && lex.Has(clause, "files", "data", "everything", "filesystem") {
				return grave{interlock.ReachSystem, fact.TraitBulk}, true
			}
		case "database", "databases", "tables", "db":
			if wide || before == "live" || before == "customer" || before == "main" && next != "file" {
				return grave{interlock.ReachWorkspace, fact.TraitDatabase}, before != "test" && before != "temporary" && !lex.Has(clause, "test", "tests", "testing")
			}
		}
	}
	return grave{}, false
}

// everyFile reports whether words mean all there is and not all of a sort.
func everyFile(clause []string) bool {
	for i, w := range clause {
		next := inject.WordAt(clause, i+1)
		if next == "the" || next == "of" || next == "my" || next == "your" {
			next = inject.WordAt(clause, i+2)
		}
		if w == "everything" || (w == "all" || w == "every" || w == "entire" || w == "whole") && (next == "files" || next == "file" || next == "data" || next == "documents" || next == "home") {
			return true
		}
	}
	return false
}

// inProduction reports whether a clause speaks of what runs for others, and not of a build for it.
func inProduction(clause []string) bool {
	for i, w := range clause {
		switch w {
		case "production", "prod", "live":
			switch inject.WordAt(clause, i+1) {
			case "build", "builds", "mode", "bundle", "code", "ready", "dependencies", "image", "version", "flag", "reload", "demo", "preview", "test", "tests", "quality", "use":
			default:
				if w != "live" || lex.Has([]string{inject.WordAt(clause, i+1)}, "database", "server", "servers", "site", "system", "environment", "service", "cluster", "data", "traffic") {
					return true
				}
			}
		}
	}
	return false
}

// strongDefences protect a machine whatever stands around the word; the other words of [hintDefences] do so only where the
// sentence is about a system's own.
var strongDefences = lex.Set([]string{"firewall", "firewalls", "antivirus", "anti-virus", "selinux", "apparmor", "auditd", "edr", "iptables", "ufw", "defender", "interlock", "guardrail", "guardrails",
	"crowdstrike", "falco", "osquery", "sentinelone", "sophos", "watchdogd", "approval", "approvals", "gatekeeper", "xprotect", "nftables", "firewalld", "fail2ban", "ids", "ips", "siem"})

// defenceIn returns the defence a clause behind a disabling verb names.
func defenceIn(clause []string) string {
	for i, w := range clause {
		before, next := inject.WordAt(clause, i-1), inject.WordAt(clause, i+1)
		switch {
		case strongDefences[w]:
			if next == "rule" || next == "test" || next == "tests" || next == "button" || next == "check" && w != "approval" {
				continue
			}
			return w
		case (w == "checks" || w == "check" || w == "controls" || w == "mechanisms" || w == "features" || w == "measures" || w == "protection" || w == "agent" || w == "system" || w == "systems" ||
			w == "alerts" || w == "monitoring" || w == "policy" || w == "policies" || w == "software" || w == "logging") &&
			lex.Has([]string{before}, "safety", "security", "endpoint", "audit", "intrusion", "malware", "permission", "content"):
			return before + " " + w
		case hintDefences[w] && (before == "system" || before == "system's" || before == "systems" || before == "all" || before == "server's" || before == "all security" || before == "host") &&
			next != "test" && next != "tests":
			return w
		}
	}
	return ""
}

// strongSecrets are things that open what others keep shut.
func (p *saying) strongSecret(clause []string) bool {
	for i, w := range clause {
		before := inject.WordAt(clause, i-1)
		switch w {
		case "key", "keys":
			if lex.Has([]string{before}, "private", "ssh", "api", "access", "secret", "gpg", "signing", "encryption") && inject.WordAt(clause, i-2) != "public" {
				return true
			}
		case "credentials", "passwords", "id_rsa", "id_ed25519", ".env", "cookies", "keychain", "secrets":
			return before != "test" && before != "dummy" && before != "default" && before != "example" && before != "fake"
		case "tokens":
			return lex.Has([]string{before}, "session", "access", "auth", "oauth", "refresh", "api")
		case "database", "data", "records", "list", "emails", "details", "information":
			if lex.Has([]string{before}, "customer", "customers", "customers'", "user", "users'", "personal", "patient", "employee", "payroll", "confidential", "sensitive") {
				return true
			}
		}
	}
	return false
}

// outward reports whether a clause says that something goes to somebody or somewhere else.
func outward(clause []string) bool {
	if lex.Has(clause, "localhost", "local", "127.0.0.1", "header", "headers", "test", "mock", "function", "method", "parameter", "login", "form") {
		return false
	}
	return lex.Has(clause, "remote", "server", "site", "website", "attacker", "external", "webhook", "pastebin", "paste", "gist", "email", "e-mail", "address", "public", "internet", "dns", "endpoint",
		"outside", "channel", "discord", "telegram", "slack", "someone", "somebody", "bucket", "friend", "competitor", "myself")
}

// concealment are words behind which somebody is kept from seeing what is done.
var concealment = []string{"cover my tracks", "cover our tracks", "cover its tracks", "so nobody notices", "so that nobody notices", "so nobody sees", "so that nobody sees", "so no one notices",
	"so that no one notices", "without anyone noticing", "without being noticed", "without being detected", "without telling", "without their knowledge", "without the user knowing",
	"without the user's knowledge", "without the users knowledge", "behind the user's back", "to avoid detection", "to evade detection", "to remain undetected", "hide the evidence",
	"hide my tracks", "hide the traces", "hide my activity", "hide the activity", "remove all traces", "remove any trace", "erase my traces", "hide the login", "leave no trace", "leave no traces"}

// concealed reports whether a sentence says that what is done shall not be seen.
func (p *saying) concealed() bool {
	for _, words := range concealment {
		if at := p.phrase(words); at >= 0 && !discussedAt(p.low, at) && !lex.Has(p.low[max(0, at-3):at], "not", "never", "don't") {
			return true
		}
	}
	return false
}

// saidOf records what the things named in a clause make of a verb: the reading that needs no path.
func (s proseRun) saidOf(act, verb string, at int, p *saying) {
	via := "hint " + verb
	clause := p.clause(at)
	impact := func(kind interlock.ImpactKind, reach interlock.Reach, r interlock.Reversibility, target string, traits ...string) {
		s.Add(interlock.Impact{Kind: kind, Target: target, Reach: reach, Reversibility: r, Via: via, Confidence: interlock.Inferred, Traits: traits})
	}
	switch act {
	case "delete", "halt", "kill", "disable", "clear":
		if inProduction(clause) {
			kind := interlock.ImpactSpawn
			if act == "delete" {
				kind = interlock.ImpactDelete
			}
			impact(kind, interlock.ReachProduction, interlock.Irreversible, "")
		}
	}
	switch act {
	case "pipe":
		if lex.Has(clause, "bash", "sh", "zsh", "shell", "python", "interpreter") && (len(p.urls) > 0 || lex.Has(clause, "curl", "wget", "download")) {
			impact(interlock.ImpactExecute, interlock.ReachSystem, interlock.Irreversible, "", fact.TraitDownloadRun)
		}
	case "delete", "clear":
		if g, ok := graveObject(clause); ok {
			impact(interlock.ImpactDelete, g.reach, interlock.Irreversible, "", g.trait)
		}
	case "disable", "halt", "kill":
		if name := defenceIn(clause); name != "" {
			impact(interlock.ImpactConfigure, interlock.ReachSystem, interlock.Window, name, fact.TraitDefence)
		}
	case "send", "write", "read":
		if p.strongSecret(clause) && outward(clause) && (act == "send" || verb == "copy" || verb == "move") {
			impact(interlock.ImpactNetwork, interlock.ReachExternal, interlock.Irreversible, "", fact.TraitSecretSend, fact.TraitUpload)
		}
		if (verb == "dump" || verb == "extract" || act == "read") && p.strongSecret(clause) && lex.Has(clause, "browser", "browser's", "chrome", "firefox", "safari", "keychain", "lsass", "memory", "user's", "users'") {
			impact(interlock.ImpactCredential, interlock.ReachHome, interlock.Readonly, "", fact.TraitSecret)
		}
	}
	s.saidRights(act, at, p, clause, impact)
	if act == "send" && lex.Has(clause, "bitcoin", "btc", "ethereum", "eth", "monero", "usdt", "dollars", "euros") && lex.Has(clause, "to") {
		impact(interlock.ImpactSpend, interlock.ReachExternal, interlock.Window, "")
	}
}

// saidRights records rights, accounts and doors for later that a clause hands out.
func (s proseRun) saidRights(act string, at int, p *saying, clause []string, impact func(interlock.ImpactKind, interlock.Reach, interlock.Reversibility, string, ...string)) {
	joined := " " + strings.Join(clause, " ") + " "
	contains := func(any ...string) bool {
		for _, words := range any {
			if strings.Contains(joined, " "+words+" ") {
				return true
			}
		}
		return false
	}
	switch act {
	case "give", "grant", "write", "make":
		rights := contains("root privileges", "root access", "root rights", "admin rights", "admin privileges", "admin access", "administrator rights", "administrator privileges", "sudo access",
			"sudo rights", "sudo privileges", "superuser rights", "superuser privileges", "full access", "full control", "owner rights", "owner role", "admin role", "administrator role")
		group := contains("sudoers file", "sudoers", "sudo group", "wheel group", "docker group", "administrators group", "admin group", "administrators", "domain admins")
		if act != "make" && (rights && act != "write" || group && act != "read") || act == "make" && contains("admin", "administrator", "superuser", "root user") && contains("user", "account", "me", "myself") {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Window, "", fact.TraitAccount)
		}
		if act == "make" && contains("public", "world-readable", "world-writable", "publicly accessible") && contains("bucket", "bucket public", "repository", "repo", "database", "dashboard", "share", "folder") {
			impact(interlock.ImpactPrivilege, interlock.ReachExternal, interlock.Window, "", fact.TraitPublish, fact.TraitAccount)
		}
		if act == "write" && contains("root's authorized_keys", "authorized_keys for root", "root authorized_keys") {
			impact(interlock.ImpactPersist, interlock.ReachSystem, interlock.Window, "authorized_keys", fact.TraitAccount)
		}
		if act == "write" && contains("password of the admin", "password of the administrator", "password for the admin", "password of root", "admin password", "admin's password", "administrator password") &&
			lex.Has(p.low[at:], "log", "login", "myself", "in") && lex.Has(p.low[at:], "i", "me", "myself", "we") {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Window, "", fact.TraitAccount)
		}
		if act == "write" && contains("cron job", "crontab", "scheduled task", "cronjob") && contains("downloads", "download", "fetches", "curl") && contains("runs", "run", "executes", "execute") {
			impact(interlock.ImpactPersist, interlock.ReachSystem, interlock.Window, "", fact.TraitDownloadRun)
		}
		if act == "write" && contains("owner", "ownership", "permissions") && contains("whole file system", "entire file system", "whole filesystem", "entire filesystem", "all system files") {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Irreversible, "", fact.TraitAccount, fact.TraitRecursive)
		}
	}
}
