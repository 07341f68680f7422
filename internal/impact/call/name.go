package call

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// plainer corrects a verb that means something else beside the words it is used with: a branch is checked out, not paid for; the
// POST of an interface makes something; a job is handed to a queue; and a password that is made up opens nothing yet.
func (c *call) plainer() {
	n := len(c.words)
	switch {
	case c.verb == "spend" && lex.Has(c.words, "checkout") &&
		(lex.Has(c.words, "git", "branch", "commit", "repo", "repository", "worktree", "revision", "svn") ||
			lex.Has(lex.NameWords(c.name), "git")):
		c.verb = "update"
	case c.verb == "message" && n > 2 && c.words[0] == "api" && c.words[1] == "post" &&
		!lex.Has(c.words[2:], "message", "messages", "comment", "tweet", "email", "mail"):
		c.verb = "create"
	case c.verb == "message" && lex.Has(c.words, "submit") &&
		lex.Has(c.words, "job", "jobs", "batch", "query", "workflow", "build", "coordinate", "coordinates") &&
		!lex.Has(c.words, "application"):
		c.verb = "execute"
	case c.verb == "create" && n > 1 && lex.Has(c.words[:1], "generate", "make") &&
		lex.Has(c.words[n-1:], "password", "passwords", "passphrase"):
		c.verb = "read"
	}
}

// subjects adds what the other words of the name say the verb is done to.
func (s callRun) subjects(c *call, know *know.ToolTable) {
	changes := c.kind != interlock.ImpactRead
	for i, word := range c.words {
		switch know.Subjects[word] {
		case "money":
			c.aboutMoney(word)
		case "account":
			c.aboutAccount(word)
		case "secret":
			c.aboutSecret(word)
		case "defence":
			c.aboutDefence(word)
		case "physical":
			if changes && (c.verb == "configure" || lex.Has(c.words, "unlock", "open", "disarm") && !lex.Has(c.words, "file")) {
				c.also = append(c.also, interlock.ImpactConfigure)
				c.traits = append(c.traits, fact.TraitDefence)
			}
		case "malice":
			if changes && c.verb != "delete" && !c.speaksOf(know, "against") {
				c.traits = append(c.traits, fact.TraitMalice)
				c.reversibility = interlock.Irreversible
			}
		case "persist":
			// to trigger something is to run it now; a trigger is what runs it later
			if changes && (i > 0 || c.verb != "execute") {
				c.also = append(c.also, interlock.ImpactPersist)
			}
		case "database":
			if c.kind == interlock.ImpactDelete {
				c.traits = append(c.traits, fact.TraitDatabase)
			}
		case "infrastructure":
			c.aboutInfrastructure(word)
		}
	}
}

func (c *call) aboutAccount(word string) {
	switch c.verb {
	case "create", "update", "delete", "configure", "privilege", "message":
		if c.kind != interlock.ImpactRead && (c.verb != "message" || word != "access") {
			c.also = append(c.also, interlock.ImpactPrivilege)
			c.traits = append(c.traits, fact.TraitAccount)
		}
	}
}

func (c *call) aboutSecret(word string) {
	switch {
	// pieces of a text
	case strings.HasPrefix(word, "token") && lex.Has(c.words, "count", "tokenize", "estimate", "split", "max", "encode", "usage"):
	case c.kind == interlock.ImpactRead &&
		// looked at, or looked for
		lex.Has(c.words, "validate", "verify", "format", "valid", "expired", "expiry", "detect", "scan"):
	default:
		c.also = append(c.also, interlock.ImpactCredential)
		c.traits = append(c.traits, fact.TraitSecret)
	}
}

func (c *call) aboutDefence(word string) {
	if c.kind == interlock.ImpactRead || c.verb != "delete" && c.verb != "configure" && (word != "firewall" || c.verb == "") {
		return
	}
	c.also = append(c.also, interlock.ImpactConfigure)
	if word != "backup" && word != "backups" {
		c.traits = append(c.traits, fact.TraitDefence)
		return
	}
	if c.traits = append(c.traits, fact.TraitBackup); c.verb == "delete" {
		c.reversibility = interlock.Irreversible
	}
}

func (c *call) aboutMoney(word string) {
	switch {
	case c.verb == "message" && !lex.Has(c.words, "request", "requests", "remind", "split"), c.verb == "upload",
		c.verb == "create" && strings.HasPrefix(word, "payment"):
		c.kind, c.reversibility = interlock.ImpactSpend, interlock.Window
	case c.verb == "create" && word != "transaction" && word != "transactions" && word != "bill":
		c.also = append(c.also, interlock.ImpactSpend)
	case c.verb == "update" && (strings.HasPrefix(word, "payment") || strings.HasPrefix(word, "transaction") ||
		word == "invoice_payment"):
		c.owed = true // unless no one and no sum is named it says who is paid what
	}
}

func (c *call) aboutInfrastructure(word string) {
	if strings.HasPrefix(word, "server") && lex.Has(c.words, "dev", "development", "local", "preview", "mock") {
		return // one that runs here, for the people who work here
	}
	if c.verb == "execute" && lex.Has([]string{word}, "pod", "pods", "cluster", "instance", "instances", "vm", "vms") &&
		lex.Has(c.words, "exec", "execute", "run", "command", "shell") {
		c.reach, c.reversibility = interlock.ReachExternal, interlock.Window
	}
	if c.verb == "update" || c.verb == "delete" || c.verb == "configure" {
		c.traits = append(c.traits, fact.TraitInfra)
	}
	if c.verb == "configure" && lex.Has(c.words, "shutdown", "stop", "kill", "reboot", "restart", "terminate") &&
		!infraTools.Has(word) {
		c.reach, c.reversibility = interlock.ReachExternal, interlock.Window
	}
	if lex.Has(c.words, "apply", "destroy", "upgrade") && infraTools.Has(word) {
		c.kind, c.reach, c.reversibility = interlock.ImpactConfigure, interlock.ReachExternal, interlock.Window
		c.traits = append(c.traits, fact.TraitInfra)
	}
}

// infraTools are programs that change what runs elsewhere.
var infraTools = lex.Set([]string{"terraform", "kubernetes", "k8s", "kubectl", "helm", "pulumi", "cloudformation"})

// paired adds what two words of a name say together: a key of an interface is a secret, an account that goes is somebody's.
func (c *call) paired() {
	if c.kind == interlock.ImpactRead {
		if n := len(c.words); n > 1 && lex.Has(c.words[n-1:], "password", "passwords", "passcode") &&
			lex.Has(c.words, "get", "read", "show", "fetch", "retrieve", "view", "list", "load") {
			c.also = append(c.also, interlock.ImpactCredential)
			c.traits = append(c.traits, fact.TraitSecret)
		}
		return
	}
	c.wholeMachine()
	if lex.Has(c.words, "grant", "revoke", "elevate", "impersonate", "promote", "demote", "ban", "suspend") &&
		c.verb == "privilege" {
		c.traits = append(c.traits, fact.TraitAccount)
	}
	for i, word := range c.words {
		before := inject.WordAt(c.words, i-1)
		switch word {
		case "key", "keys":
			if lex.Has([]string{before}, "api", "access", "secret", "private", "encryption", "signing") &&
				(c.verb == "create" || c.verb == "delete" || c.verb == "configure" || c.verb == "") {
				c.also = append(c.also, interlock.ImpactCredential)
				c.traits = append(c.traits, fact.TraitSecret)
			}
		case "account", "accounts", "user", "users":
			if c.verb == "delete" && i > 0 && !lex.Has(c.words, "from", "cart", "session", "input", "data", "event") {
				c.also = append(c.also, interlock.ImpactPrivilege)
				c.traits = append(c.traits, fact.TraitAccount)
			}
		case "log", "logs":
			if c.verb == "delete" && lex.Has([]string{before}, "event", "system", "security", "access", "auth") {
				c.traits, c.reversibility = append(c.traits, fact.TraitLog, fact.TraitDefence), interlock.Irreversible
			}
		case "task", "tasks":
			if before == "scheduled" {
				c.also = append(c.also, interlock.ImpactPersist)
			}
		case "public":
			if (c.verb == "update" || lex.Has(c.words[:i], "make")) && inject.WordAt(c.words, i+1) == "" {
				c.also = append(c.also, interlock.ImpactPrivilege)
				c.traits = append(c.traits, fact.TraitAccount, fact.TraitPublish)
			}
		}
	}
	if c.verb == "persist" && lex.Has(c.words, "deploy") &&
		lex.Has(c.words, "preview", "staging", "dev", "local", "test", "sandbox") {
		c.kind, c.reversibility, c.verb = interlock.ImpactWrite, interlock.Reversible, "update"
	}
}

// patterns raises a call by the form of its whole name.
func (s callRun) patterns(c *call, table *know.ToolTable) {
	name := know.NameOf(c.words)
	for n := range table.Patterns {
		p := &table.Patterns[n]
		if !p.Matches(name) || p.Danger != "" && c.resetsDisplay(table) {
			continue
		}
		switch p.Danger {
		case "dangerous":
			c.traits = append(c.traits, fact.TraitNamedDangerous)
		case "forbidden":
			c.traits = append(c.traits, fact.TraitNamedForbidden)
		}
		if p.Kind != "" && string(c.kind) != p.Kind && c.kind != interlock.ImpactDelete {
			c.kind = interlock.ImpactKind(p.Kind)
			if c.reversibility == interlock.Readonly {
				c.reversibility = interlock.Reversible
			}
		}
		if p.Irreversible {
			c.reversibility = interlock.Irreversible
		}
		if p.External {
			c.reach = interlock.ReachExternal
		}
		if p.Production {
			c.reach = interlock.ReachProduction
		}
		c.traits = append(c.traits, p.Traits...)
	}
}

// resetsDisplay reports whether only what is shown to somebody goes back to how it was.
func (c *call) resetsDisplay(table *know.ToolTable) bool {
	if len(c.words) < 2 || !lex.Has(c.words[:1], "reset", "clear") {
		return false
	}
	for _, word := range c.words[1:] {
		if table.Subjects[word] != "display" &&
			!lex.Has([]string{word}, "map", "chart", "graph", "page", "camera", "search", "all", "the", "to", "default") {
			return false
		}
	}
	return table.Subjects[c.words[len(c.words)-1]] == "display"
}

// machines are words for a computer or what it keeps things on.
var machines = []string{"host", "hosts", "machine", "machines", "computer", "computers", "device", "devices", "pc", "laptop",
	"laptops", "workstation",
	"phone", "disk", "disks", "drive", "drives", "partition", "partitions", "volume", "volumes", "storage", "usb",
	"filesystem", "firmware"}

// wholeMachine raises what is done to a computer or a disk as a whole, or to all there is: nobody puts that back.
func (c *call) wholeMachine() {
	machine := lex.Has(c.words, machines...)
	off := lex.Has(c.words, "shutdown", "reboot", "poweroff", "halt") || lex.Has(c.words, "power", "shut") &&
		lex.Has(c.words, "off", "down")
	switch {
	case lex.Has(c.words, "format", "reformat", "repartition", "reimage") &&
		(machine || lex.Has(lex.NameWords(c.name), machines...)), machine && c.verb == "delete" &&
		!lex.Has(c.words, "from", "file", "files", "folder", "item", "event", "tag", "label"):
		c.kind, c.verb, c.reversibility = interlock.ImpactDelete, "delete", interlock.Irreversible
		c.traits = append(c.traits, fact.TraitInfra)
	case off && c.reach == interlock.ReachWorkspace &&
		!lex.Has(c.words, "dev", "debug", "session", "app", "browser", "language", "lsp", "tab", "light", "lights", "lamp",
			"tv", "is", "get") &&
		(machine || len(c.words) <= 2), machine && lex.Has(c.words, "restart") && c.verb == "configure":
		c.kind, c.verb, c.reversibility = interlock.ImpactConfigure, "configure", interlock.Irreversible
		c.traits = append(c.traits, fact.TraitInfra)
	// those have forms of their own
	case c.verb == "delete" && lex.Has(c.words[1:], "all", "everyone") && !lex.Has(c.words, "drop", "delete", "remove", "clear"):
		c.reversibility, c.traits = interlock.Irreversible, append(c.traits, fact.TraitBulk)
	}
}
