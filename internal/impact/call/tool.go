package call

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A callRun reads calls of tools, files and web addresses for an analysis.
type callRun struct{ *flow.Scan }

// Tool reads a call of a named tool.
func Tool(s *flow.Scan, name string, args json.RawMessage) {
	if r := (callRun{s}); !r.message(name, args) {
		r.tool(name, args)
	}
}

// File reads a call of a file tool.
func File(s *flow.Scan, tool string, args json.RawMessage) { callRun{s}.file(tool, args) }

// HTTP reads a request.
func HTTP(s *flow.Scan, args json.RawMessage) { callRun{s}.http(args) }

// Patch reads a patch that a tool or command is given.
func Patch(s *flow.Scan, tool, text string) { callRun{s}.patch(tool, text) }

// Named reads a call whose name alone is known, as prose tells it.
func Named(s *flow.Scan, name string) {
	r := callRun{s}
	c := r.called(name)
	r.concludeCall(&c)
}

// tool analyses a call of a named tool: what its name says it does, what its annotations add, and what its arguments
// are, each analysed as what it is.
func (s callRun) tool(name string, args json.RawMessage) {
	object, ok := s.arguments(name, args)
	if !ok {
		s.Texts = append(s.Texts, ToolTexts(s.Know, name)...) // a rule about the name holds for a call that can't be read as well
		return
	}
	s.toolCall(name, object, args)
}

// toolCall is tool for arguments that are decoded; args is their text.
func (s callRun) toolCall(name string, object map[string]any, args json.RawMessage) {
	before := len(s.Impacts)
	if s.harness(name, object, args) {
		s.annotated(name, before)
		return
	}
	c := s.called(name)
	folded := foldKeys(object)
	s.annotations(&c, folded)
	s.operated(&c, folded)
	for _, key := range lex.SortedNames(folded) {
		if set, isBool := folded[key].(bool); isBool && set && c.kind != interlock.ImpactRead {
			switch flag := s.Know.ToolTable().Flags[key]; flag {
			case "":
			case "irreversible":
				c.reversibility = interlock.Irreversible
			default:
				c.traits = append(c.traits, flag)
			}
		}
	}
	s.Executes(interlock.KindTool, strings.Join(c.words, "_"))
	s.meant(&c, object)
	s.argument(&c, "", without(object, s.clientCalls(&c, object)), 0)
	if s.poses(&c, folded) {
		c.traits = append(c.traits, fact.TraitImpersonation)
	}
	s.concludeCall(&c)
	s.elicited(name, object)
}

// without returns an object without the members that have been read.
func without(object map[string]any, read map[string]bool) map[string]any {
	if len(read) == 0 {
		return object
	}
	rest := make(map[string]any, len(object))
	for name, value := range object {
		if !read[name] {
			rest[name] = value
		}
	}
	return rest
}

func ToolTexts(know *know.Knowledge, name string) []fact.Text {
	table := know.ToolTable()
	if kind := table.Harness[lex.Fold(harnessName(name))]; kind != "" && kind != "file" {
		return nil
	}
	return []fact.Text{{Kind: interlock.KindTool, Value: strings.Join(lex.NameWords(calledName(name)), "_")}}
}

// A call is what is known of one tool call while its arguments are read.
type call struct {
	name          string
	words         []string
	runs          bool     // it runs what it is given, or types it where something runs it
	program       string   // the program it is called after
	acts          []string // words of the arguments that say what is to be done
	verb          string   // the list of rules/tools.yaml the deciding word is in; empty if it is in none
	kind          interlock.ImpactKind
	also          []interlock.ImpactKind
	reach         interlock.Reach
	reversibility interlock.Reversibility
	traits        []string
	elsewhere     bool // one of the arguments that say where it acts does not name staging
	target        string
	recipient     string
	sum           sum   // of money
	people        int64 // or places that are addressed
	items         int
	page          string // an address outside that is given
	field         bool   // a field for a password or a card is named
	placed        bool   // a path argument carries the impact
	cargo         cargo
	sent          bool   // a file of this machine is named
	transfers     string // move, copy or link, if it does that
	owed          bool   // it changes a payment that is due
	secret        string
}

// harness hands a coding agent's own tool to the analyser of what it is, if the arguments are those of one.
func (s callRun) harness(name string, object map[string]any, args json.RawMessage) bool {
	last := harnessName(name)
	kind := s.Know.ToolTable().Harness[lex.Fold(last)]
	if kind == "" {
		return false
	}
	folded := foldKeys(object)
	switch kind {
	case "file":
		_, target := textAt(folded, []string{"path", "filepath", "notebookpath", "absolutepath", "targetfile",
			"filename", "relativepath"})
		_, patch := textAt(folded, filePatchKeys)
		if !target && !patch && len(gather(folded, fileListKeys)) == 0 {
			return false
		}
		s.Executes(interlock.KindTool, strings.Join(lex.NameWords(last), "_"))
		s.file(last, args)
	case "http":
		if url, _ := textAt(folded, []string{"url", "uri"}); url == "" {
			return false
		}
		s.http(args)
	default:
		payload := payloadOf(folded)
		if payload == "" {
			return false
		}
		s.Nested(interlock.Kind(kind), payload)
	}
	return true
}

// harnessName is a tool's name without the server it comes from.
func harnessName(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	return name[strings.LastIndexAny(name, "./:")+1:]
}

// calledName is the same where a name is left.
func calledName(name string) string {
	if i := strings.LastIndex(name, "__"); i > 0 && i+2 < len(name) {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return name
}

// payloadOf returns the code a tool is given to run: a string, or a list of arguments.
func payloadOf(folded map[string]any) string {
	for _, key := range []string{"command", "cmd", "script", "code", "sql", "query", "statement", "input", "commandline",
		"expression", "function", "source", "chars"} {
		if line := lex.CommandLine(folded[key]); line != "" {
			return line
		}
	}
	return ""
}

// called reads a tool's name.
func (s callRun) called(name string) call {
	know := s.Know.ToolTable()
	c := call{name: name, reach: interlock.ReachWorkspace}
	c.words = lex.NameWords(calledName(name))
	c.runs, c.program = runsThings(know, name) || typesInto(c.words), s.programNamed(name)
	c.verb, c.transfers = firstVerb(know, c.words), transferOf(know, c.words)
	if c.verb == "" {
		if c.verb = firstVerb(know, lex.NameWords(name)); c.verb != "" && c.verb != "read" && len(c.words) == 1 {
			c.words = lex.NameWords(name) // drop.table
		}
	}
	c.correctVerb(know)
	c.strongestVerb(know)
	s.subjects(&c, know)
	c.paired()
	s.patterns(&c, know)
	if c.kind == interlock.ImpactMessage || c.kind == interlock.ImpactSpend || c.kind == interlock.ImpactNetwork {
		c.reach = interlock.ReachExternal
	}
	return c
}

// correctVerb replaces the verb where the words beside it say that another is meant.
func (c *call) correctVerb(know *know.ToolTable) {
	if n := len(c.words); n > 1 && know.Subjects[c.words[n-1]] == "instrument" {
		c.verb = "read" // a validator of e-mail sends none
	}
	c.plainer()
	if c.verb == "configure" && c.resetsDisplay(know) {
		c.verb = "update"
	}
	if c.verb == "credential" && !aboutSecrets(know, c.words) {
		c.verb = "update" // pictures are rotated, too
	}
	if c.verb == "message" && c.speaksOf(know, "signal") {
		c.verb = "execute" // a response or a packet is sent, to nobody in person
	}
	if c.verb == "read" && lex.Has(c.words, "open", "unlock") && c.speaksOf(know, "physical") &&
		!lex.Has(c.words, "is", "get", "check", "file") {
		c.verb = "update" // a door that opens
	}
	if c.verb == "create" && lex.Has(c.words, socialPlaces...) &&
		lex.Has(c.words, "post", "tweet", "story", "status", "reel", "comment") {
		c.verb = "message"
	}
	if (c.verb == "spend" || c.verb == "") && lex.Has(c.words, "request", "requests", "remind", "split") &&
		c.speaksOf(know, "money") {
		c.verb = "message" // somebody is asked for money, none is given
		c.cargo.said = true
	}
}

// strongestVerb says what the call does: its verb, or one behind a joint that takes more to undo ("read and delete").
func (c *call) strongestVerb(know *know.ToolTable) {
	c.kind, c.reversibility = verbKind(c.verb)
	for i, word := range c.words[:max(0, len(c.words)-1)] {
		if word != "and" && word != "then" && word != "or" {
			continue
		}
		verb := firstVerb(know, c.words[i+1:i+2])
		if kind, reversibility := verbKind(verb); moreReversible(c.reversibility, reversibility) {
			c.also = append(c.also, c.kind)
			c.kind, c.reversibility, c.verb = kind, reversibility, verb
		}
	}
}

// socialPlaces are names of services whose posts everybody reads.
var socialPlaces = []string{"twitter", "facebook", "instagram", "linkedin", "reddit", "mastodon", "bluesky", "tiktok", "youtube"}

// publicWords in a name say that everybody hears what is said.
var publicWords = []string{"tweet", "publish", "broadcast", "announce", "announcement", "everyone", "all", "public", "blog",
	"webpage", "website", "page", "site",
	"press", "newsletter", "twitter", "facebook", "instagram", "linkedin", "reddit", "mastodon", "bluesky", "tiktok", "youtube",
	"timeline", "wall", "feed", "status", "campaign", "mass", "bulk", "invite", "share", "submit", "forward"}

func firstVerb(know *know.ToolTable, words []string) string {
	for _, word := range words {
		if verb := know.Verbs[word]; verb != "" {
			return verb
		}
	}
	return ""
}

// speaksOf reports whether a word of the name is in a list of subjects.
func (c *call) speaksOf(know *know.ToolTable, subject string) bool {
	for _, word := range c.words {
		if know.Subjects[word] == subject {
			return true
		}
	}
	return false
}

// aboutSecrets reports whether a name that says rotate or dump says so of secrets; other verbs of that list need no object.
func aboutSecrets(know *know.ToolTable, words []string) bool {
	for _, word := range words {
		switch word {
		case "decrypt", "unmask", "reveal", "crack", "exfiltrate", "harvest":
			return true
		case "key", "keys", "cert", "certs", "certificate", "certificates", "db", "database", "memory", "table", "hashes":
			return true
		}
		if subject := know.Subjects[word]; subject == "secret" || subject == "account" {
			return true
		}
	}
	return false
}

// A verbEffect is what a verb does to the world and what undoing it takes.
type verbEffect struct {
	kind          interlock.ImpactKind
	reversibility interlock.Reversibility
}

// verbEffects is what each class of verbs does, if nothing else is known.
var verbEffects = map[string]verbEffect{
	"read":       {interlock.ImpactRead, interlock.Readonly},
	"create":     {interlock.ImpactWrite, interlock.Reversible},
	"update":     {interlock.ImpactWrite, interlock.Reversible},
	"delete":     {interlock.ImpactDelete, interlock.Window},
	"message":    {interlock.ImpactMessage, interlock.Irreversible},
	"spend":      {interlock.ImpactSpend, interlock.Window},
	"privilege":  {interlock.ImpactPrivilege, interlock.Window},
	"persist":    {interlock.ImpactPersist, interlock.Reversible},
	"configure":  {interlock.ImpactConfigure, interlock.Reversible},
	"credential": {interlock.ImpactCredential, interlock.Readonly},
	"upload":     {interlock.ImpactNetwork, interlock.Irreversible},
}

// verbKind looks a verb up. Of one that is not known, an execution that can be undone is the least that is assumed, as
// MCP-AQL does of an operation without a label.
func verbKind(verb string) (interlock.ImpactKind, interlock.Reversibility) {
	if effect, known := verbEffects[verb]; known {
		return effect.kind, effect.reversibility
	}
	return interlock.ImpactExecute, interlock.Reversible
}

// moreReversible reports whether b takes more to undo than a.
func moreReversible(a, b interlock.Reversibility) bool {
	order := interlock.Reversibilities()
	return slices.Index(order, b) > slices.Index(order, a)
}

// concludeCall records what the call itself does, once its arguments have been read.
func (s callRun) concludeCall(c *call) {
	if c.page != "" && c.sent && lex.Has(c.words, "upload") {
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: c.page, Reach: interlock.ReachExternal, Via: c.name,
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitUpload}})
	}
	c.learn(s.Know.ToolTable().Bulk)
	i := c.impact()
	if !c.placed || c.kind != interlock.ImpactRead && c.kind != interlock.ImpactWrite && c.kind != interlock.ImpactDelete {
		s.Add(i)
	}
	for _, kind := range c.also {
		if kind != c.kind {
			also := i
			also.Kind, also.Traits = kind, append([]string(nil), c.traits...)
			if kind == interlock.ImpactSpend {
				c.sum.spend(&also)
			}
			s.Add(also)
		}
	}
	s.secretsHandedOn(c)
}

// learn corrects what the name said by what the arguments say: sums, recipients, and how many things are named. From bulk on,
// those are many.
func (c *call) learn(bulk int) {
	if c.sum.minor() > 0 && c.kind != interlock.ImpactSpend &&
		(lex.Has(c.words, "transfer", "send", "wire") || lex.Has(c.acts, "transfer", "send", "wire")) {
		c.kind, c.reach, c.reversibility = interlock.ImpactSpend, interlock.ReachExternal, interlock.Window
	}
	if c.items >= bulk && (c.verb == "update" || c.verb == "configure" || c.verb == "privilege") {
		c.reversibility = interlock.Irreversible // nobody puts so many back one by one
	}
	if c.owed && (c.recipient != "" || c.sum.minor() > 0) {
		c.also = append(c.also, interlock.ImpactSpend)
	}
	if c.kind == interlock.ImpactMessage && c.cargo.words() && !lex.Has(c.words, publicWords...) && len(c.also) == 0 {
		c.traits = append(c.traits, fact.TraitWords)
	}
	if c.items >= bulk && c.kind != interlock.ImpactRead {
		c.traits = append(c.traits, fact.TraitBulk)
	}
	if c.kind == interlock.ImpactDelete && fact.HasTrait(c.traits, fact.TraitBulk) {
		c.reversibility = interlock.Irreversible
	}
}

// impact is what the call does by its name and arguments.
func (c *call) impact() interlock.Impact {
	i := interlock.Impact{Kind: c.kind, Target: c.target, Reach: c.reach, Reversibility: c.reversibility, Via: c.name,
		Confidence: interlock.Inferred, Traits: c.traits}
	switch {
	case c.kind == interlock.ImpactSpend:
		c.sum.spend(&i)
	case c.kind == interlock.ImpactMessage && c.people > 1:
		i.Recipients = c.people
	case c.items > 1:
		i.Records = int64(c.items)
	}
	switch c.kind {
	case interlock.ImpactMessage, interlock.ImpactSpend, interlock.ImpactNetwork, interlock.ImpactPrivilege:
		if c.recipient != "" {
			i.Target = c.recipient
		}
	}
	return i
}

// secretsHandedOn records secrets that a call fills into a page or sends away.
func (s callRun) secretsHandedOn(c *call) {
	if c.kind == interlock.ImpactRead {
		return
	}
	if c.field && c.page != "" {
		s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: c.page, Reach: interlock.ReachExternal, Via: c.name,
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitSecret, fact.TraitUpload}})
	}
	elsewhere := lex.Has(c.words, "gist", "issue", "comment", "paste", "pastebin", "wiki", "review", "discussion", "post", "page")
	if c.secret != "" && (elsewhere || c.reach == interlock.ReachExternal || c.reach == interlock.ReachProduction) {
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: c.recipient, Reach: interlock.ReachExternal,
			Via:           c.name + " " + c.secret,
			Reversibility: interlock.Irreversible, Traits: []string{fact.TraitSecretSend, fact.TraitUpload}})
	}
}
