package call

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/sql"
	"interlock/internal/impact/web"
	"interlock/internal/inject"
	"interlock/internal/lex"
	"interlock/internal/secret"
)

// argument reads one argument of a call, by the name it has, the schema it follows and the shape of its value, and
// everything nested in it.
func (s callRun) argument(c *call, key string, value any, depth int) {
	if !s.Spend(1) || depth > fact.MaxNesting {
		s.Unknown(c.name, fact.TraitWork)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		if depth == 1 && lex.Fold(key) == "annotations" {
			return
		}
		s.environment(lex.Fold(key), v)
		taken := s.assembled(c, v)
		for _, name := range lex.SortedNames(v) {
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
		s.variableNamed(key, v)
		if !s.encodedObject(c, lex.Fold(key), v, depth) {
			s.textArgument(c, lex.Fold(key), v)
		}
	case json.Number:
		s.numberArgument(c, lex.Fold(key), v)
	}
}

// listArgument reads a list: a command in words, ids of many things, or several values of one sort.
func (s callRun) listArgument(c *call, key string, list []any, depth int) {
	folded := lex.Fold(key)
	s.environmentList(folded, list)
	if s.commandLines(c, folded, list) {
		return
	}
	if s.Know.ToolTable().Arguments[folded] == "shell" {
		if line := lex.CommandLine(list); line != "" && s.isCommand(c, line) {
			s.Nested(interlock.KindShell, line)
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
	if s.Know.ToolTable().Arguments[key] != "amount" {
		return
	}
	c.sum.add(key, number.String())
}

// textArgument reads a string argument.
func (s callRun) textArgument(c *call, key, text string) {
	if text == "" {
		return
	}
	if c.secret == "" && c.kind != interlock.ImpactRead {
		c.secret = web.PlainSecret(text)
	}
	if c.namesPlace(key) && len(text) < 256 && s.Production(text) {
		c.reach = interlock.ReachProduction
	} else if c.namesPlace(key) && len(text) < 256 {
		c.staging(s.Staging(text))
	}
	c.field = c.field || len(text) <= 64 && secretField(strings.ToLower(text)) && !endsIn(key, "value", "values", "text")
	s.grantedBy(c, key, text)
	s.rememberedOrders(c, text)
	role := s.Know.ToolTable().Arguments[key]
	c.sum.text(key, role, text)
	if s.mutations(c, text) || s.runText(c, key, text) || s.statement(c, key, role, text) {
		return
	}
	if cellText(c, key) {
		role = "code"
	}
	if c.kind == interlock.ImpactMessage {
		c.cargo.load(key, role, text)
	}
	s.textInRole(c, key, role, text)
}

// staging takes note of one argument that names where a call acts: it is staging if all of them are.
func (c *call) staging(is bool) {
	has := slices.Contains(c.traits, fact.TraitStaging)
	switch {
	case is && !c.elsewhere && !has:
		c.traits = append(c.traits, fact.TraitStaging)
	case !is:
		c.elsewhere = true
		if has {
			c.traits = slices.DeleteFunc(c.traits, func(t string) bool { return t == fact.TraitStaging })
		}
	}
}

// namesPlace reports whether an argument names where a call acts: always by some names, by others where what they name is
// deleted or configured.
func (c *call) namesPlace(key string) bool {
	switch key {
	case "environment", "env", "database", "host", "cluster", "context", "bucket", "branch", "namespace", "project", "server":
		return true
	case "name", "target", "resource", "instance", "service":
		return c.kind == interlock.ImpactDelete || c.kind == interlock.ImpactConfigure
	}
	return false
}

// rememberedOrders records orders to a model that are written where a model will read them again.
func (s callRun) rememberedOrders(c *call, text string) {
	if c.kind == interlock.ImpactWrite && lex.Has(c.words, "memory", "memories", "instructions", "prompt", "knowledge") &&
		inject.Injected(text) {
		s.Add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: c.reach, Reversibility: interlock.Reversible, Via: c.name,
			Confidence: interlock.Inferred,
			Traits:     []string{fact.TraitAgentConfig, fact.TraitInjection}})
	}
}

// statement reads an argument that is SQL whatever it is called, or breaks out of the statement it would become a value of. It
// reports whether the argument was one of those.
func (s callRun) statement(c *call, key, role, text string) bool {
	database := sql.AboutDatabase(c.name)
	nameless := c.verb == "" && len(c.words) == 1 // what such a tool does shows only in what it is given
	if (c.runs || database || nameless) && sql.LooksLikeStatement(text) || database && key != "name" &&
		sql.BeginsStatement(text) &&
		strings.Contains(text, " ") {
		s.Nested(interlock.KindSQL, text)
		return true
	}
	if role == "content" || role == "shell" || role == "code" || sql.FreeText(key) || len(text) > 512 || !sql.BreaksOut(text) {
		return false
	}
	sql.ReadFragment(s.Scan, "fragment", text)
	return true
}

// textInRole reads an argument as what the table of arguments says of its name.
func (s callRun) textInRole(c *call, key, role, text string) {
	switch role {
	case "shell":
		if s.isCommand(c, text) {
			s.Nested(interlock.KindShell, text)
		}
	case "sql":
		if sql.LooksLikeStatement(text) || sql.TakesStatement(c.name, key) && sql.BeginsStatement(text) {
			s.Nested(interlock.KindSQL, text)
		}
	case "code":
		s.codeArgument(c, text)
		s.unnamedPath(c, key, text)
	case "path":
		s.pathArgument(c, text)
	case "url":
		if scheme, _, _ := web.SplitScheme(text); scheme == "file" || web.IsWeb(scheme) ||
			!web.ReadsLocator(&s.World, text, c.name) {
			s.urlArgument(c, text)
		}
	case "recipient":
		c.people += addressed(text)
		if c.recipient == "" && len(text) <= 320 && len(secret.Suspect(text)) == 0 {
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
		switch lex.Fold(text) {
		case "admin", "administrator", "owner", "root", "superuser", "superadmin", "full", "fullaccess", "fullcontrol",
			"everyone", "public":
			c.also = append(c.also, interlock.ImpactPrivilege)
			c.traits = append(c.traits, fact.TraitAccount)
		}
	case "group", "groups", "groupname", "team":
		switch lex.Fold(text) {
		case "admin", "admins", "administrators", "domainadmins", "sudo", "wheel", "docker", "root", "owners", "superusers":
			c.also = append(c.also, interlock.ImpactPrivilege)
			c.traits = append(c.traits, fact.TraitAccount)
		}
	case "action", "actions":
		if low := lex.Fold(text); (low == "forward" || low == "redirect" || low == "forwardto") &&
			lex.Has(c.words, "filter", "rule", "rules", "filters") {
			c.also = append(c.also, interlock.ImpactPersist)
		}
	}
}

// otherArgument reads a string whose name says nothing: by its shape, and as the thing acted on if it names one.
func (s callRun) otherArgument(c *call, key, text string) {
	switch {
	case strings.HasPrefix(text, "#!/"):
		s.Nested(interlock.KindShell, text)
	case sql.LooksLikeStatement(text), sql.TakesStatement(c.name, key) && sql.BeginsStatement(text):
		s.Nested(interlock.KindSQL, text)
	case strings.HasPrefix(text, "http://"), strings.HasPrefix(text, "https://"):
		if !strings.ContainsAny(text, " \n") {
			s.urlArgument(c, text)
		}
	case c.target == "" && (strings.HasSuffix(key, "id") || strings.HasSuffix(key, "name")) && len(text) <= 80 &&
		len(secret.Suspect(text)) == 0:
		c.target = text
	}
}

// secretField reports whether the name of a field in a page says that a password, a code or a card goes into it.
func secretField(low string) bool {
	switch low {
	case "password", "passwd", "pwd", "pass", "pin", "cvv", "cvc", "ssn", "otp":
		return true
	}
	for _, part := range [...]string{"password_field", "password-field", "passwordfield", "passwordinput", "password_input",
		"password-input", "input[type=password]", "#password", "[name=password]",
		"card_number", "cardnumber", "card-number", "secret_key", "private_key", "security_code", "pin_field",
		"cvv_field", "ssn_field"} {
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
	return strings.Contains(text, " ") && s.Know.Described(strings.ToLower(first[strings.LastIndexByte(first, '/')+1:]))
}

// codeArgument reads source code given to a tool that runs it, or that looks like source code.
func (s callRun) codeArgument(c *call, text string) {
	words := " " + strings.Join(lex.NameWords(c.name), " ") + " "
	python, script := strings.Contains(words, " python ") || strings.Contains(words, " ipython ") ||
		strings.Contains(words, " jupyter ") || strings.Contains(words, " notebook ") || strings.Contains(words, " cell ") ||
		strings.Contains(words, " kernel "),
		strings.Contains(words, " javascript ") || strings.Contains(words, " js ") || strings.Contains(words, " node ") ||
			strings.Contains(words, " browser ") || strings.Contains(words, " puppeteer ") ||
			strings.Contains(words, " playwright ") || strings.Contains(words, " page ")
	runs := c.verb == "execute" || strings.Contains(words, " code ") || strings.Contains(words, " interpreter ") ||
		strings.Contains(words, " repl ") || strings.Contains(words, " evaluate ") || strings.Contains(words, " evaluation ")
	notebook := python && (strings.HasPrefix(text, "!") || strings.HasPrefix(text, "%"))
	if !python && !script && !runs || !strings.ContainsAny(text, "(=;\n") && !notebook {
		return
	}
	switch {
	case python || !script && !looksLikeJavaScript(text) && !looksLikeShell(text):
		s.Nested(interlock.KindPython, text)
	case script || looksLikeJavaScript(text):
		s.Nested(interlock.KindJavaScript, text)
	default:
		s.Nested(interlock.KindShell, text)
	}
}

// cellText reports whether an argument is what is in a cell of a notebook, which is code unless somebody says otherwise.
func cellText(c *call, key string) bool {
	switch key {
	case "source", "content", "text", "cells", "cellsource", "cellcontent", "newsource":
		return lex.Has(c.words, "cell", "cells", "notebook", "kernel", "jupyter", "ipython") && c.kind != interlock.ImpactRead
	}
	return false
}

func looksLikeJavaScript(text string) bool {
	for _, mark := range []string{"require(", "const ", "let ", "=>", "console.log", "function ", "document.",
		"window.", "process.env"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

func looksLikeShell(text string) bool {
	trimmed := strings.TrimSpace(text)
	return strings.HasPrefix(trimmed, "#!/bin/") || strings.HasPrefix(trimmed, "sudo ") || strings.HasPrefix(trimmed, "rm ") ||
		strings.HasPrefix(trimmed, "curl ")
}

// urlArgument reads a URL: tools that read fetch it, others send something there.
func (s callRun) urlArgument(c *call, url string) {
	if !strings.Contains(url, "://") && !strings.Contains(url, ".") {
		return
	}
	if reach, _ := s.Host(url); reach == interlock.ReachExternal || reach == interlock.ReachProduction {
		c.page = know.CleanURL(url)
	}
	method := "POST"
	if c.kind == interlock.ImpactRead || c.kind == interlock.ImpactMessage || c.verb == "" || c.verb == "create" ||
		c.verb == "update" {
		method = "GET" // a link that is stored or mentioned is at most followed
	}
	web.Request(&s.World, method, url, nil, "")
}
