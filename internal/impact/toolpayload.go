package impact

import (
	"encoding/json"
	"strings"

	"interlock"
	"interlock/internal/secret"
)

// argument reads one argument of a call, by the name it has, the schema it follows and the shape of its value, and
// everything nested in it.
func (s callRun) argument(c *call, key string, value any, depth int) {
	if !s.spend(1) || depth > MaxNesting {
		s.unknown(c.name, TraitWork)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		if depth == 1 && fold(key) == "annotations" {
			return
		}
		s.environment(fold(key), v)
		taken := s.assembled(c, v)
		for _, name := range sortedNames(v) {
			if !taken[name] {
				s.argument(c, name, v[name], depth+1)
			}
		}
		if c.transfers != "" {
			s.transferred(c, v)
		}
	case []any:
		s.listArgument(c, key, v, depth)
	case string:
		if !s.encodedObject(c, fold(key), v, depth) {
			s.textArgument(c, fold(key), v)
		}
	case json.Number:
		s.numberArgument(c, fold(key), v)
	}
}

// listArgument reads a list: a command in words, ids of many things, or several values of one sort.
func (s callRun) listArgument(c *call, key string, list []any, depth int) {
	folded := fold(key)
	s.environmentList(folded, list)
	if s.commandLines(c, folded, list) {
		return
	}
	if s.know.toolTable().arguments[folded] == "shell" {
		if line := commandLine(list); line != "" && s.isCommand(c, line) {
			s.nested(interlock.KindShell, line)
			return
		}
	}
	if len(list) > c.items && !strings.Contains(folded, "field") && !strings.Contains(folded, "column") {
		c.items = len(list)
	}
	for _, item := range list {
		s.argument(c, key, item, depth+1)
	}
}

func (s callRun) numberArgument(c *call, key string, number json.Number) {
	if s.know.toolTable().arguments[key] != "amount" {
		return
	}
	value, err := number.Float64()
	if err != nil || value < 0 || value > 1e13 {
		return
	}
	if cents := int64(value*100 + 0.5); cents > c.amount {
		c.amount = cents
	}
}

// textArgument reads a string argument.
func (s callRun) textArgument(c *call, key, text string) {
	if text == "" {
		return
	}
	if c.secret == "" && c.kind != interlock.ImpactRead {
		c.secret = plainSecret(text)
	}
	if (key == "environment" || key == "env" || key == "database" || key == "host" || key == "cluster" || key == "context" || key == "bucket" ||
		key == "branch" || key == "namespace" || key == "project" || key == "server" || (key == "name" || key == "target" || key == "resource" || key == "instance" || key == "service") &&
		(c.kind == interlock.ImpactDelete || c.kind == interlock.ImpactConfigure)) && len(text) < 256 && s.production(text) {
		c.reach = interlock.ReachProduction
	}
	c.field = c.field || len(text) <= 64 && secretField(strings.ToLower(text)) && !strings.HasSuffix(key, "value") && !strings.HasSuffix(key, "values") && !strings.HasSuffix(key, "text")
	s.grantedBy(c, key, text)
	if c.kind == interlock.ImpactWrite && has(c.words, "memory", "memories", "instructions", "prompt", "knowledge") && injected(text) {
		s.add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: c.reach, Reversibility: interlock.Reversible, Via: c.name, Confidence: interlock.Inferred,
			Traits: []string{TraitAgentConfig, TraitInjection}})
	}
	if s.runText(c, key, text) {
		return
	}
	if (c.runs || aboutDatabase(c.name)) && looksLikeSQL(text) || aboutDatabase(c.name) && key != "name" && statesSQL(text) && strings.Contains(text, " ") {
		s.nested(interlock.KindSQL, text)
		return
	}
	role := s.know.toolTable().arguments[key]
	if role != "content" && role != "shell" && role != "code" && !freeText(key) && len(text) <= 512 && breaksOut(text) {
		readFragment(s.scan, "fragment", text)
		return
	}
	if c.kind == interlock.ImpactMessage {
		c.cargo.load(key, role, text)
	}
	switch role {
	case "shell":
		if s.isCommand(c, text) {
			s.nested(interlock.KindShell, text)
		}
	case "sql":
		if looksLikeSQL(text) || meansSQL(c.name, key) && statesSQL(text) {
			s.nested(interlock.KindSQL, text)
		}
	case "code":
		s.codeArgument(c, text)
		s.unnamedPath(c, key, text)
	case "path":
		s.pathArgument(c, text)
	case "url":
		if scheme, _, _ := splitScheme(text); scheme == "file" || isWeb(scheme) || !readsLocator(&s.world, text, c.name) {
			s.urlArgument(c, text)
		}
	case "recipient":
		if c.recipient == "" && len(text) <= 320 && len(secret.Find(text)) == 0 {
			c.recipient = text
		}
		s.unnamedPath(c, key, text)
	case "amount", "limit", "content":
	default:
		s.otherArgument(c, key, text)
		s.unnamedPath(c, key, text)
	}
}

// grantedBy reads arguments that hand out rights or have what arrives sent on, whatever the tool is called.
func (s callRun) grantedBy(c *call, key, text string) {
	if c.kind == interlock.ImpactRead || len(text) > 32 {
		return
	}
	switch key {
	case "role", "roles", "permission", "permissions", "accesslevel", "privilege", "privileges", "usertype", "grant":
		switch fold(text) {
		case "admin", "administrator", "owner", "root", "superuser", "superadmin", "full", "fullaccess", "fullcontrol", "everyone", "public":
			c.also = append(c.also, interlock.ImpactPrivilege)
			c.traits = append(c.traits, TraitAccount)
		}
	case "group", "groups", "groupname", "team":
		switch fold(text) {
		case "admin", "admins", "administrators", "domainadmins", "sudo", "wheel", "docker", "root", "owners", "superusers":
			c.also = append(c.also, interlock.ImpactPrivilege)
			c.traits = append(c.traits, TraitAccount)
		}
	case "action", "actions":
		if low := fold(text); (low == "forward" || low == "redirect" || low == "forwardto") && has(c.words, "filter", "rule", "rules", "filters") {
			c.also = append(c.also, interlock.ImpactPersist)
		}
	}
}

// otherArgument reads a string whose name says nothing: by its shape, and as the thing acted on if it names one.
func (s callRun) otherArgument(c *call, key, text string) {
	switch {
	case strings.HasPrefix(text, "#!/"):
		s.nested(interlock.KindShell, text)
	case looksLikeSQL(text), meansSQL(c.name, key) && statesSQL(text):
		s.nested(interlock.KindSQL, text)
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		if !strings.ContainsAny(text, " \n") {
			s.urlArgument(c, text)
		}
	case c.target == "" && (strings.HasSuffix(key, "id") || strings.HasSuffix(key, "name")) && len(text) <= 80 && len(secret.Find(text)) == 0:
		c.target = text
	}
}

// secretField reports whether the name of a field in a page says that a password, a code or a card goes into it.
func secretField(low string) bool {
	switch low {
	case "password", "passwd", "pwd", "pass", "pin", "cvv", "cvc", "ssn", "otp":
		return true
	}
	for _, part := range [...]string{"password_field", "password-field", "passwordfield", "passwordinput", "password_input", "password-input", "input[type=password]", "#password", "[name=password]",
		"card_number", "cardnumber", "card-number", "secret_key", "private_key", "security_code", "pin_field", "cvv_field", "ssn_field"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return false
}

// isCommand reports whether the value of an argument named like a command is one. A tool for lamps has commands, too.
func (s callRun) isCommand(c *call, text string) bool {
	if c.verb == "execute" || c.verb == "" && strings.ContainsAny(text, " /") {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.ContainsAny(text, "|;&$`<>\n") {
		return true
	}
	return strings.Contains(text, " ") && s.know.described(strings.ToLower(first[strings.LastIndexByte(first, '/')+1:]))
}

// codeArgument reads source code given to a tool that runs it, or that looks like source code.
func (s callRun) codeArgument(c *call, text string) {
	words := " " + strings.Join(nameWords(c.name), " ") + " "
	python, script := strings.Contains(words, " python ") || strings.Contains(words, " ipython ") || strings.Contains(words, " jupyter "),
		strings.Contains(words, " javascript ") || strings.Contains(words, " js ") || strings.Contains(words, " node ") || strings.Contains(words, " browser ")
	runs := c.verb == "execute" || strings.Contains(words, " code ") || strings.Contains(words, " interpreter ") || strings.Contains(words, " repl ")
	notebook := python && (strings.HasPrefix(text, "!") || strings.HasPrefix(text, "%"))
	if !python && !script && !runs || !strings.ContainsAny(text, "(=;\n") && !notebook {
		return
	}
	switch {
	case python || !script && !looksLikeJavaScript(text) && !looksLikeShell(text):
		s.nested(interlock.KindPython, text)
	case script || looksLikeJavaScript(text):
		s.nested(interlock.KindJavaScript, text)
	default:
		s.nested(interlock.KindShell, text)
	}
}

func looksLikeJavaScript(text string) bool {
	for _, mark := range []string{"require(", "const ", "let ", "=>", "console.log", "function ", "document.", "window.", "process.env"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

func looksLikeShell(text string) bool {
	trimmed := strings.TrimSpace(text)
	return strings.HasPrefix(trimmed, "#!/bin/") || strings.HasPrefix(trimmed, "sudo ") || strings.HasPrefix(trimmed, "rm ") || strings.HasPrefix(trimmed, "curl ")
}

// urlArgument reads a URL: tools that read fetch it, others send something there.
func (s callRun) urlArgument(c *call, url string) {
	if !strings.Contains(url, "://") && !strings.Contains(url, ".") {
		return
	}
	if reach, _ := s.host(url); reach == interlock.ReachExternal || reach == interlock.ReachProduction {
		c.page = cleanURL(url)
	}
	method := "POST"
	if c.kind == interlock.ImpactRead || c.kind == interlock.ImpactMessage || c.verb == "" || c.verb == "create" || c.verb == "update" {
		method = "GET" // a link that is stored or mentioned is at most followed
	}
	request(&s.world, method, url, nil, "")
}
