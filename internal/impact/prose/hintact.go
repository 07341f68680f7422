package prose

import (
	"sort"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/impact/shell"
	"interlock/internal/impact/sql"
	"interlock/internal/impact/web"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// recordVerb records what one verb of a sentence does.
func (s proseRun) recordVerb(act, verb string, at int, p *sentence) {
	via := "hint " + verb
	impact := func(kind interlock.ImpactKind, reach interlock.Reach, r interlock.Reversibility, target string, traits ...string) {
		s.Add(interlock.Impact{Kind: kind, Target: target, Reach: reach, Reversibility: r, Via: via,
			Confidence: interlock.Inferred, Traits: traits})
	}
	near := p.low[min(at+1, len(p.low)):min(len(p.low), at+8)]
	if act == "write" && (verb == "copy" || verb == "move") && p.secret && len(p.urls) > 0 {
		act = "send"
	}
	switch act {
	case "delete":
		s.recordDelete(via, at, near, p)
	case "write":
		s.recordFiles(interlock.ImpactWrite, verb, at, p)
	case "read":
		s.recordFiles(interlock.ImpactRead, verb, at, p)
	case "steal":
		impact(interlock.ImpactNetwork, interlock.ReachExternal, interlock.Irreversible, "", fact.TraitSecretSend,
			fact.TraitUpload, fact.TraitMalice)
	case "send":
		if onlyAsks(near) {
			for _, url := range p.urls[:min(len(p.urls), 4)] {
				web.Request(&s.World, "GET", url, nil, "")
			}
			return
		}
		s.recordSend(via, p)
	case "fetch":
		s.recordFetch(via, p)
	case "kill":
		s.recordKill(via, p)
	case "halt":
		if lex.Has(p.low, "system", "machine", "computer", "server", "host", "now") {
			impact(interlock.ImpactSpawn, interlock.ReachSystem, interlock.Window, "")
		}
	case "disable":
		if p.steps || verb == "stop" {
			return // what of it matters, recordObject records
		}
		for _, word := range near {
			if s.Is(know.Defence, word) {
				impact(interlock.ImpactConfigure, interlock.ReachSystem, interlock.Window, word, fact.TraitDefence)
				break
			}
		}
	case "grant", "give":
		if act == "grant" && s.grants(verb, at, near, p) || act == "give" && gives(near) {
			impact(interlock.ImpactPrivilege, interlock.ReachSystem, interlock.Window, "", fact.TraitAccount)
		}
	case "spend":
		if s.Any(know.Money, p.low) || strings.ContainsAny(strings.Join(p.words, " "), "$€£") && lex.Has(near, "to", "from") {
			impact(interlock.ImpactSpend, interlock.ReachExternal, interlock.Window, "")
		}
	}
}

// recordFiles records that the files a sentence names are read or written.
func (s proseRun) recordFiles(kind interlock.ImpactKind, verb string, at int, p *sentence) {
	via := "hint " + verb
	for n, path := range p.paths[:min(len(p.paths), 8)] {
		if kind == interlock.ImpactWrite && p.isValue(verb, at, n) {
			continue
		}
		i := interlock.Impact{Kind: kind, Via: via, Confidence: interlock.Inferred}
		if (p.steps || p.program) && kind == interlock.ImpactWrite {
			i.Traits = []string{fact.TraitPlanned}
		}
		s.Touch(path, i)
	}
	s.recordInside(kind, via, p)
}

func (s proseRun) recordFetch(via string, p *sentence) {
	for _, url := range p.urls[:min(len(p.urls), 4)] {
		web.Request(&s.World, "GET", url, nil, "")
		for _, word := range p.low {
			if s.Is(know.Run, word) {
				s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: know.CleanURL(url), Reach: interlock.ReachSystem,
					Reversibility: interlock.Irreversible, Via: via, Confidence: interlock.Inferred,
					Traits: []string{fact.TraitDownloadRun}})
			}
		}
	}
}

func (s proseRun) recordKill(via string, p *sentence) {
	if !lex.Has(p.low, "process", "processes", "daemon", "pid", "service", "services") {
		return
	}
	i := interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachWorkspace,
		Reversibility: interlock.Reversible, Via: via,
		Confidence: interlock.Inferred}
	if p.wide && p.allProcesses() || lex.Has(p.low, "system", "running", "daemon") &&
		lex.Has(p.low, "them", "iterates", "identifies") {
		i.Reach, i.Reversibility = interlock.ReachSystem, interlock.Irreversible
	}
	s.Add(i)
}

// grants reports whether rights are given that go far, and records modes that are given as numbers.
func (s proseRun) grants(verb string, at int, near []string, p *sentence) bool {
	if verb == "chmod" && s.recordMode(p.low[min(at+1, len(p.low)):min(len(p.low), at+16)], p) {
		return false
	}
	return lex.Has(near, "root", "admin", "administrator", "sudo", "privileges", "permanent", "777", "superuser", "anyone") &&
		!lex.Has(near, "table", "tables", "database", "schema") ||
		verb != "grant" && lex.Has(near, "permissions", "access")
}

// gives reports whether everybody is let in.
func gives(near []string) bool {
	return !lex.Has(near, "group", "else") && lex.Has(near, "everyone", "everybody", "anyone", "public", "world") &&
		lex.Has(near, "access", "permission", "permissions", "rights", "privileges")
}

// onlyAsks reports whether what is sent carries nothing along: a request to read, a ping.
func onlyAsks(near []string) bool {
	near = near[:min(len(near), 5)]
	return lex.Has(near, "ping", "pings") || lex.Has(near, "get", "head", "options") && lex.Has(near, "request", "requests")
}

// recordMode records that permissions are set to a number, if that is what a sentence says, and whether it does. On the
// files it names, that is what the command would do; otherwise only a mode that opens them to everybody says anything.
func (s proseRun) recordMode(near []string, p *sentence) bool {
	mode := ""
	for i, word := range near {
		if isMode(word) && (mode == "" || i > 0 && near[i-1] == "to") {
			mode = word
		}
	}
	if mode == "" {
		return false
	}
	for _, path := range p.paths[:min(len(p.paths), 4)] {
		s.Nested(interlock.KindShell, "chmod "+mode+" "+shell.QuoteAll(flow.Literals([]string{path})))
	}
	return len(p.paths) > 0 || (mode[len(mode)-1]-'0')&2 == 0 && (len(mode) == 3 || mode[0] == '0')
}

func isMode(word string) bool {
	return (len(word) == 3 || len(word) == 4) && strings.Trim(word, "01234567") == ""
}

// isValue reports whether a path is what something is set to and not what is changed: "change the shell to /bin/sh".
func (p *sentence) isValue(verb string, at, n int) bool {
	place := p.places[n]
	return (verb == "change" || verb == "modify") && place > at && inject.WordAt(p.low, place-1) == "to"
}

// allProcesses reports whether every process is meant, and not those that some words pick out.
func (p *sentence) allProcesses() bool {
	for i, w := range p.low {
		if w != "processes" && w != "process" {
			continue
		}
		before := p.low[max(0, i-3):i]
		picked := p.Any(know.Picking, p.low[i+1:min(len(p.low), i+5)])
		if lex.Has(before, "all", "every", "any", "everything") && !picked &&
			(len(before) == 0 || lex.Has(before[len(before)-1:], "all", "every", "any", "the", "running", "other",
				"user", "system")) {
			return true
		}
	}
	return false
}

// pathsAfter returns the paths that stand behind a verb, or, if none does and something named before is taken up again, all.
func (p *sentence) pathsAfter(at int) []string {
	for n, place := range p.places {
		if place > at {
			return p.paths[n:]
		}
	}
	if strings.HasSuffix(inject.WordAt(p.low, at), "ed") || lex.Has(p.low[at+1:], "it", "them", "this", "that", "these") {
		return p.paths
	}
	return nil
}

func (s proseRun) recordDelete(via string, at int, near []string, p *sentence) {
	paths := p.pathsAfter(at)
	for _, path := range paths[:min(len(paths), 8)] {
		i := interlock.Impact{Kind: interlock.ImpactDelete, Via: via, Confidence: interlock.Inferred}
		if s.Place(path).Reach == interlock.ReachWorkspace {
			i.Reversibility = interlock.Window
		}
		s.Touch(path, i)
	}
	s.recordInside(interlock.ImpactDelete, via, p)
	wide := false
	for _, word := range near {
		wide = wide || s.Is(know.Wide, word)
	}
	i := interlock.Impact{Kind: interlock.ImpactDelete, Reach: interlock.ReachWorkspace, Reversibility: interlock.Window,
		Via: via, Confidence: interlock.Inferred}
	switch {
	case wide && s.Any(know.Wholesale, near):
		i.Reversibility, i.Traits = interlock.Irreversible, []string{fact.TraitBulk}
	case len(p.paths)+len(p.inside) > 0:
		return
	}
	s.Add(i)
}

// recordInside records something done to what is in a directory that is named: it reaches as far, but the directory's own
// traits are not those of what it holds.
func (s proseRun) recordInside(kind interlock.ImpactKind, via string, p *sentence) {
	if kind == interlock.ImpactDelete && s.Any(know.Part, p.low) {
		kind = interlock.ImpactWrite // of a file, and what is removed is part of it
	}
	for _, path := range p.inside[:min(len(p.inside), 8)] {
		at := s.Place(path)
		r := place.UsualReversibility(kind)
		if kind == interlock.ImpactDelete && at.Reach == interlock.ReachWorkspace {
			r = interlock.Window
		}
		traits := []string{fact.TraitGlob}
		if (p.steps || p.program) && kind == interlock.ImpactWrite {
			traits = append(traits, fact.TraitPlanned)
		}
		s.Add(interlock.Impact{Kind: kind, Target: at.Path + "/*", Reach: at.Reach, Reversibility: r, Via: via,
			Confidence: interlock.Inferred, Traits: traits})
	}
}

func (s proseRun) recordSend(via string, p *sentence) {
	traits := []string{fact.TraitUpload}
	if p.secret {
		traits = append(traits, fact.TraitSecretSend)
	}
	for _, path := range p.paths[:min(len(p.paths), 8)] {
		if fact.HasTrait(s.Place(path).Traits, fact.TraitSecret) {
			traits = append(traits, fact.TraitSecretSend)
		}
	}
	for _, url := range p.urls[:min(len(p.urls), 4)] {
		plain, _ := web.PlainHost(url)
		reach, more := s.Host(plain)
		r := interlock.Irreversible
		if reach == interlock.ReachWorkspace {
			r = interlock.Reversible
			traits = []string{fact.TraitUpload}
		}
		s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: know.CleanURL(url), Reach: reach,
			Reversibility: r, Via: via,
			Confidence: interlock.Inferred, Traits: append(append([]string(nil), traits...), more...)})
	}
	if p.address != "" {
		i := interlock.Impact{Kind: interlock.ImpactMessage, Target: p.address, Reach: interlock.ReachExternal,
			Reversibility: interlock.Irreversible,
			Via:           via, Confidence: interlock.Inferred}
		if p.secret {
			i.Traits = []string{fact.TraitSecretSend}
		}
		s.Add(i)
	}
}

// quoted analyses commands in back-quotes and returns the sentence without them.
func (s proseRun) quoted(text string, p *sentence) string {
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
		before := len(s.Impacts)
		s.quotedCommand(inner, lead)
		s.markPlanned(p, before)
		text = text[:start] + " " + text[start+length+2:]
	}
	return text
}

// quotedCommand analyses one quoted piece as a command if it is one: a known command with arguments, or one that the words
// before it say is run.
func (s proseRun) quotedCommand(inner string, lead []string) {
	inner = strings.TrimPrefix(inner, "$ ")
	word, arguments, _ := strings.Cut(inner, " ")
	base := word[strings.LastIndexByte(word, '/')+1:]
	known := s.Know.Described(base)
	if !known && sql.LooksLikeStatement(inner) {
		if !s.deniedAt(lead, len(lead)) {
			s.Nested(interlock.KindSQL, inner)
		}
		return
	}
	runs := len(lead) > 0 && lex.Has(lead[max(0, len(lead)-4):], "run", "execute", "running", "executing", "runs", "executes",
		"using", "use", "via", "with", "command")
	if arguments == "" { // a program that is merely named, or used, is not run for what it does alone
		runs = lex.Has(lead[max(0, len(lead)-2):], "run", "execute", "running", "executing", "runs", "executes", "command")
	}
	if !known || arguments == "" && !runs {
		return
	}
	if s.deniedAt(lead, len(lead)) || s.discussedAt(lead, len(lead)) {
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly,
			Via:        "hint " + base,
			Confidence: interlock.Inferred, Traits: []string{fact.TraitNegated}})
		return
	}
	s.Nested(interlock.KindShell, inner)
}

// commandInProse analyses a command that is in a sentence without quotes: a known one with an option or a path
// right behind it.
func (s proseRun) commandInProse(text string, p *sentence) {
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i++ {
		word := strings.TrimLeft(fields[i], "\"'(`")
		if word == "" || word[0] < 'a' || word[0] > 'z' || !s.Know.Described(word) {
			continue
		}
		next := fields[i+1]
		option := next[0] == '-' && len(next) > 1 && next[1] != '-' || strings.HasPrefix(next, "--") && len(next) > 4
		place := (next[0] == '/' || strings.HasPrefix(next, "~/") || strings.HasPrefix(next, "http")) &&
			s.Is(know.PlainCommand, word)
		option = option || s.Is(know.Subcommanded, word) && optionBehindWords(fields[i+1:])
		after := word == "sudo" || i > 0 &&
			lex.Has([]string{strings.ToLower(strings.Trim(fields[i-1], ":'\"`"))}, "run", "execute", "$", "running", "executing",
				"issue", "command")
		if word == "sudo" && !option && !place {
			after = s.Know.Described(strings.Trim(next, ".,;:'\"`")) && !inject.ProseWords.Has(next)
		}
		if !option && !place && !(after && !inject.ProseWords.Has(word)) {
			continue
		}
		lead := make([]string, 0, i)
		for _, f := range fields[:i] {
			lead = append(lead, strings.ToLower(strings.Trim(f, ",.;:!?\"'`()")))
		}
		if s.deniedAt(lead, len(lead)) || s.discussedAt(lead, len(lead)) {
			s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly,
				Via:        "hint " + word,
				Confidence: interlock.Inferred, Traits: []string{fact.TraitNegated}})
			return
		}
		before := len(s.Impacts)
		s.readCommand(strings.TrimRight(s.proseCommand(fields[i:], word), ".\"'`)"))
		s.markPlanned(p, before)
		return
	}
}

// optionBehindWords reports whether an option comes behind one or two words of a subcommand, and that is not all there is.
func optionBehindWords(fields []string) bool {
	option := func(at int) bool { return fields[at][0] == '-' && len(fields[at]) > 1 }
	return len(fields) > 2 && isLowerWord(fields[0]) && (option(1) || isLowerWord(fields[1]) && option(2))
}

// commandLine reports whether a line of a hint is a command as it will be typed and no sentence: it begins with a program,
// and goes on as no sentence about that program would. A program that is a word too must go on with a subcommand of its own.
func (s proseRun) commandLine(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0][0] < 'a' || fields[0][0] > 'z' || !s.Know.Described(fields[0]) {
		return false
	}
	next := fields[1]
	if inject.ProseWords.Has(fields[0]) {
		spec := s.Know.Lookup(fields[0])
		return spec != nil && spec.Subs[next] != nil
	}
	return !s.Is(know.Determiner, next) && !s.Is(know.GoingOn, next)
}

// markPlanned marks what commands that are only announced write to the system, as what prose announces is.
func (s proseRun) markPlanned(p *sentence, from int) {
	if !p.steps {
		return
	}
	for n := from; n < len(s.Impacts); n++ {
		if i := &s.Impacts[n]; i.Kind == interlock.ImpactWrite && i.Reach == interlock.ReachSystem && !i.Has(fact.TraitPlanned) {
			i.Traits = append(i.Traits[:len(i.Traits):len(i.Traits)], fact.TraitPlanned)
			sort.Strings(i.Traits)
		}
	}
}

// readCommand analyses a command taken out of a sentence. Where the sentence ended it in the wrong place it is no command; that
// says something of the sentence and nothing of what will be done.
func (s proseRun) readCommand(command string) {
	before := len(s.Impacts)
	if strings.Count(command, "'")%2 == 1 || strings.Count(command, `"`)%2 == 1 {
		command = strings.NewReplacer("'", "", `"`, "").Replace(command)
	}
	s.Nested(interlock.KindShell, command)
	kept := s.Impacts[:before]
	for _, i := range s.Impacts[before:] {
		if i.Confidence != interlock.Unknown || !i.Has(fact.TraitUnparsable) {
			kept = append(kept, i)
		}
	}
	s.Impacts = kept
}

func isLowerWord(word string) bool {
	for i := 0; i < len(word); i++ {
		if c := word[i]; (c < 'a' || c > 'z') && c != '-' || i == 0 && c == '-' {
			return false
		}
	}
	return word != ""
}

// proseCommand ends a command where the sentence goes on.
func (v vocabulary) proseCommand(fields []string, first string) string {
	out := []string{first}
	for _, f := range fields[1:] {
		if v.Is(know.CommandEnd, f) {
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
