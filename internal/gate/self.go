package gate

import (
	"path"
	"strings"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// Self protects Interlock from what it guards: its files, processes, endpoints, hook registrations and the commands that
// answer requests or change who may. It is at layer 1, so no approval lowers it. Reading is fine, and so are the
// commands that only tell or only decide.
//
// Where agents act at a tier they don't read the log either, whatever the way (EC-L-4): it says what is looked at and how others were
// answered. What checks that it is whole tells nothing of it.
func Self(rules *ruleset.Ruleset, snapshot interlock.Snapshot, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	var out []interlock.Finding
	secret := all(analysis.Impacts, func(i *interlock.Impact) bool {
		// A whole folder of Interlock's own holds its key.
		return onSelf(i) && i.Reversibility == interlock.Readonly &&
			(i.Has(fact.TraitSecret) || i.Has(fact.TraitRecursive) || i.Kind == interlock.ImpactCredential || takesWhole(i))
	})
	if len(secret) > 0 {
		out = append(out, selfFinding("self.read-key", interlock.Deny, "this would read a key of the safety interlock", secret))
	}
	changes := all(analysis.Impacts, func(i *interlock.Impact) bool {
		return onSelf(i) && i.Reversibility != interlock.Readonly && i.Kind != interlock.ImpactRead &&
			!i.Has(fact.TraitDryRun) && !harmlessCall(i)
	})
	if len(changes) > 0 {
		out = append(out, selfFinding("self.change", interlock.Deny,
			"this would change or stop the safety interlock itself", changes))
	}
	tiered := rules != nil && rules.TierFor(snapshot.Agent) > 0
	if tiered {
		if reads := all(analysis.Impacts, readsLog); len(reads) > 0 {
			out = append(out, selfFinding("self.read-log", interlock.Deny, "this would read the log, which is for operators", reads))
		}
	}
	for _, t := range analysis.Texts {
		if t.Kind != interlock.KindShell || !names(t.Value) {
			continue
		}
		switch words := strings.Fields(strings.ToLower(t.Value)); { // some file systems do not tell capitals from small letters
		case answersRequests(words):
			out = append(out, selfFinding("self.answer", interlock.Halt,
				"agents can't answer requests, add identities or give standing orders; only operators can", nil))
		case commandsInterlock(words):
			out = append(out, selfFinding("self.command", interlock.Deny,
				"this command of the safety interlock is for operators; agents may use check, doctor, version and the commands that list", nil))
		case tiered && printsLog(words):
			out = append(out, selfFinding("self.read-log", interlock.Deny, "this would read the log, which is for operators", nil))
		case stopsInterlock(words):
			out = append(out, selfFinding("self.stop", interlock.Deny, "this would stop the safety interlock", nil))
		}
	}
	return out
}

func selfFinding(rule string, verdict interlock.Verdict, reason string, impacts []int) interlock.Finding {
	return interlock.Finding{Gate: "self", Rule: rule, Layer: 1, Verdict: verdict, Reason: reason, Impacts: impacts,
		Tags: []string{"ASI03"}}
}

// takesWhole reports whether an impact reads a folder of Interlock with everything in it, by a program that needs no option for that.
// Folders are told from files by their names, and the folder of the programs holds none of its keys.
func takesWhole(i *interlock.Impact) bool {
	if i.Kind != interlock.ImpactRead || strings.Contains(path.Base(i.Target), ".") && !strings.HasPrefix(path.Base(i.Target), ".") ||
		path.Base(path.Dir(i.Target)) == "bin" {
		return false
	}
	return contains(path.Base(strings.Fields(i.Via + " -")[0]), "tar", "bsdtar", "gtar", "zip", "7z", "7za", "7zz", "rar", "rsync", "scp", "sftp",
		"rclone", "restic", "borg", "cpio", "pax", "jar", "Compress-Archive")
}

// readsLog reports whether an impact reads the store that the log is in.
func readsLog(i *interlock.Impact) bool {
	base := path.Base(i.Target)
	if contains(path.Base(strings.Fields(i.Via + " -")[0]), "ls", "stat", "du") { // names and sizes only
		return false
	}
	return onSelf(i) && i.Reversibility == interlock.Readonly && (strings.HasPrefix(base, program+".db") || ruleset.Glob(base, program+".db"))
}

// printsLog reports whether the words print entries of the log. Other commands that do are no agent's anyway.
func printsLog(words []string) bool {
	command, second, runs := subcommand(words)
	return runs && command == "audit" && contains(second, "list", "show", "prove")
}

func onSelf(i *interlock.Impact) bool {
	return i.Reach == interlock.ReachSelf || i.Has(fact.TraitSelf)
}

// harmlessCall reports whether the impact is a call of an endpoint that only proposes or tells, or runs Interlock's
// program: which of its commands may run is told by its text.
func harmlessCall(i *interlock.Impact) bool {
	switch i.Kind {
	case interlock.ImpactExecute, interlock.ImpactSpawn:
		return path.Base(strings.Fields(i.Via + " -")[0]) == program
	case interlock.ImpactNetwork:
		for _, end := range [...]string{"/v1/decide", "/v1/outcome", "/access/v1/evaluation",
			"/access/v1/evaluations", "/healthz", "/v1/runs", "/v1/plans", "/v1/heartbeat", "/v1/messages"} {
			if strings.HasSuffix(i.Target, end) {
				return true
			}
		}
		if _, rest, named := strings.Cut(i.Target, "/v1/messages/msg_"); named {
			_, what, _ := strings.Cut(rest, "/")
			return contains(what, "receive", "acknowledge")
		}
		_, rest, named := strings.Cut(i.Target, "/v1/runs/run_")
		_, what, _ := strings.Cut(rest, "/")
		return named && contains(what, "end", "turns", "session", "checkpoints")
	}
	return false
}

const program = "interlock"

// names reports whether a text holds the program's name at all, in any case.
func names(text string) bool {
	for i := 0; i+len(program) <= len(text); i++ {
		if text[i]|0x20 == program[0] && strings.EqualFold(text[i:i+len(program)], program) {
			return true
		}
	}
	return false
}

// subcommand returns what the words tell Interlock's program to do, and whether they run it at all.
func subcommand(words []string) (command, second string, runs bool) {
	words = built(words)
	if len(words) == 0 || path.Base(words[0]) != program && path.Base(words[0]) != program+".exe" {
		return "", "", false
	}
	var plain []string
	for _, w := range words[1:] {
		if w == "--help" || w == "-h" {
			return "help", "", true
		}
		if !strings.HasPrefix(w, "-") {
			plain = append(plain, w)
		}
	}
	plain = append(plain, "", "")
	return plain[0], plain[1], true
}

// built gives the words that a program compiled on the spot is run with: go run builds Interlock from its source, and what
// runs then is Interlock.
func built(words []string) []string {
	if len(words) == 0 || strings.TrimSuffix(path.Base(words[0]), ".exe") != "go" {
		return words
	}
	runs := false
	for i, w := range words {
		runs = runs || w == "run"
		name, _, _ := strings.Cut(w, "@")
		if runs && !strings.HasPrefix(w, "-") && path.Base(name) == program {
			return append([]string{program}, words[i+1:]...)
		}
	}
	return words
}

// answersRequests reports whether the words answer requests or change identities or standing orders.
func answersRequests(words []string) bool {
	command, second, runs := subcommand(words)
	if !runs {
		return false
	}
	switch command {
	case "approve", "allow", "deny", "vote", "verify", "resume", "quarantine", "pause", "kill", "watch":
		return true
	case "block", "grant":
		return second != "list"
	case "phase", "breaker":
		return second != "show"
	case "operator", "agent", "keys", "tools":
		return second != "list" && second != "show"
	case "rules":
		return second == "suppress" || second == "unsuppress"
	}
	return false
}

// commandsInterlock reports whether the words run a command of Interlock that is not harmless in an agent's hands. A
// flag before the command may take its value as the next word, so a word that is no command counts as unknown and is
// refused as well.
func commandsInterlock(words []string) bool {
	command, second, runs := subcommand(words)
	if !runs {
		return false
	}
	switch command {
	case "", "help", "version", "completion", "check", "doctor", "pending", "agents", "bench", "conformance", "eval":
		return false
	case "settings":
		return second != "show"
	case "rules":
		return second == "" || !contains(second, "list", "test", "lint", "diff", "show", "hits", "suppressions")
	case "audit":
		return !contains(second, "list", "show", "verify", "prove", "check-proof", "checkpoint")
	case "operator", "agent", "keys", "block", "grant", "tools", "phase", "breaker":
		return false // listing; changing is answered above
	}
	return true
}

// stopsInterlock reports whether the words stop a process or service of Interlock by name.
func stopsInterlock(words []string) bool {
	if len(words) < 2 || !contains(path.Base(words[0]), "kill", "pkill", "killall", "systemctl", "service", "launchctl",
		"rc-service", "skill") {
		return false
	}
	if looksAtService(words) {
		return false
	}
	for _, w := range words[1:] {
		if strings.Contains(w, program) {
			return true
		}
	}
	return false
}

// looksAtService reports whether the words ask a manager of services how one is, which changes nothing. The word that says
// what to do is told apart from the values of the options before it.
func looksAtService(words []string) bool {
	rest := words[1:]
	switch path.Base(words[0]) {
	case "systemctl":
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			takes := contains(rest[0], "-n", "--lines", "-o", "--output", "-p", "--property", "-t", "--type", "-h", "--host",
				"-m", "--machine", "--state", "--root", "-s", "--signal", "--kill-whom", "--what", "--job-mode")
			rest = rest[1:]
			if takes && len(rest) > 0 {
				rest = rest[1:]
			}
		}
		return len(rest) > 0 && contains(rest[0], "status", "show", "cat", "is-active", "is-enabled", "is-failed", "list-units",
			"list-unit-files", "list-timers", "list-dependencies", "help")
	case "service", "rc-service":
		return len(rest) == 2 && rest[1] == "status"
	case "launchctl":
		return contains(rest[0], "list", "print", "blame", "procinfo")
	}
	return false
}

func contains(word string, list ...string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}
