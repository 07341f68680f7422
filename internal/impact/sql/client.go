package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// sqlClient handles commands of database clients that are no SQL, line by line: psql's backslash, sqlite3's dot, the words
// of mysql and sqlplus, sqlcmd's colon. They run shells, read scripts and write files on this side.
func (s sqlRun) sqlClient(in string) {
	for line := range strings.SplitSeq(in, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || !s.Spend(1) {
			continue
		}
		switch line[0] {
		case '.':
			s.sqliteCommand(line)
		case '!', ':':
			command, ok := strings.CutPrefix(strings.TrimLeft(line, ":"), "!")
			command = strings.TrimLeft(command, "!")
			if word := strings.ToLower(lex.FirstWord(command)); ok &&
				(s.Know.Described(word) || word == "dir" || word == "type") {
				s.clientShell(command)
			}
		case '\\':
			s.psqlCommands(line)
		default:
			if at := strings.Index(line, ` \`); at >= 0 {
				s.psqlCommands(line[at+1:])
			}
		}
	}
}

// sqlClientWord handles commands of mysql and sqlplus that are words, and reports whether a line is one.
func (s sqlRun) sqlClientWord(line string) bool {
	word, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), " ")
	rest = strings.TrimSpace(rest)
	if rest == "" || strings.ContainsAny(rest, "\n;") {
		return false
	}
	switch strings.ToLower(word) {
	case "system", "host", "pager", "nopager":
		if !s.Know.Described(strings.ToLower(lex.FirstWord(rest))) && !strings.ContainsAny(rest, "/|<>&") {
			return false
		}
		s.clientShell(rest)
	case "source":
		s.clientScript(rest)
	case "tee", "spool":
		s.clientFile(interlock.ImpactWrite, word, rest)
	default:
		return false
	}
	return true
}

func (s sqlRun) clientShell(command string) {
	if command = strings.TrimSpace(command); command == "" || !s.Spend(16) {
		return
	}
	s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Irreversible,
		Via: "sql client shell", Confidence: interlock.Inferred, Traits: []string{fact.TraitDatabase}})
	s.Nested(interlock.KindShell, command)
}

// clientFile records a file on this side that a client reads or writes; a pipe is a shell.
func (s sqlRun) clientFile(kind interlock.ImpactKind, via, name string) {
	name = strings.Trim(strings.TrimSpace(name), `'"`)
	if command, ok := strings.CutPrefix(name, "|"); ok {
		s.clientShell(command)
		return
	}
	if name == "" || name == "off" || name == "stdout" || name == "stdin" || name == "pstdin" || name == "pstdout" ||
		strings.HasPrefix(name, ":") {
		return
	}
	s.Touch(name, interlock.Impact{Kind: kind, Via: "sql client " + via})
}

// clientScript runs a file of statements, and reads what is known to stand in it.
func (s sqlRun) clientScript(name string) {
	name = strings.Trim(strings.TrimSpace(name), `'"`)
	if strings.HasPrefix(name, "|") {
		s.clientFile(interlock.ImpactExecute, "script", name)
		return
	}
	p := s.Place(name)
	run := interlock.Impact{Kind: interlock.ImpactExecute, Via: "sql client script"}
	held, made := s.Files[p.Path]
	text, ok := "", false
	if !made {
		text, ok = s.ScriptAt(p)
	} else { // by this action
		s.WantAll(held.Unread)
		text, ok = held.Text, held.Known
		switch {
		case held.Network:
			run.Traits = []string{held.RunTrait()}
		case held.Written:
			run.Traits = []string{fact.TraitWrittenRun}
		}
	}
	s.TouchPlace(p, run)
	if ok {
		s.Nested(interlock.KindSQL, text)
	}
}

// psqlCommands handles the commands of psql on one line.
func (s sqlRun) psqlCommands(line string) {
	if parts := strings.Split(line, "`"); len(parts) >= 3 {
		s.clientShell(parts[1])
	}
	if command, ok := strings.CutPrefix(line, `\!`); ok {
		s.clientShell(command)
		return
	}
	for n := 0; strings.HasPrefix(line, `\`) && n < 16; n++ {
		next := strings.Index(line[1:], ` \`)
		one := line
		if next >= 0 {
			one, line = line[:next+1], line[next+2:]
		} else {
			line = ""
		}
		command, rest, _ := strings.Cut(one[1:], " ")
		rest = strings.TrimSpace(rest)
		switch strings.TrimSuffix(command, "+") {
		case "copy":
			s.psqlCopy(rest)
		case "o", "out", "g", "gx", "w", "write", "T", "s":
			s.clientFile(interlock.ImpactWrite, command, rest)
		case "i", "include", "ir", "include_relative", ".":
			s.clientScript(rest)
		case "P":
			s.clientShell(rest)
		case "lo_import":
			s.clientFile(interlock.ImpactRead, command, lex.FirstWord(rest))
		case "lo_export":
			s.clientFile(interlock.ImpactWrite, command, rest[strings.LastIndexByte(rest, ' ')+1:])
		case "password":
			s.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: rest, Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Window,
				Via:           "sql client password", Traits: []string{fact.TraitAccount, fact.TraitSecret}})
		case "gexec":
			s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Window,
				Via:           "sql client gexec", Confidence: interlock.Unknown,
				Traits: []string{fact.TraitDatabase, fact.TraitDynamic}})
		}
	}
}

// psqlCopy handles \copy, which moves rows between a table and a file or program on this side.
func (s sqlRun) psqlCopy(rest string) {
	tokens, _ := sqlTokens(rest, false)
	for i := range tokens {
		direction := tokens[i].upper
		if direction != "TO" && direction != "FROM" || i+1 >= len(tokens) {
			continue
		}
		after := tokens[i+1]
		if after.upper == "PROGRAM" && i+2 < len(tokens) {
			s.clientShell(tokens[i+2].text)
			return
		}
		if after.kind == sqlString || after.upper != "STDIN" && after.upper != "STDOUT" && i > 0 &&
			findWord(tokens[i:], "FROM") < 1 {
			kind, name := interlock.ImpactRead, after.text
			if direction == "TO" {
				kind = interlock.ImpactWrite
			}
			if after.kind != sqlString { // a bare word: up to the next blank
				at := strings.Index(strings.ToUpper(rest), direction+" ")
				name = lex.FirstWord(strings.TrimSpace(rest[at+len(direction):]))
			}
			s.clientFile(kind, "copy", name)
			if direction == "TO" {
				return
			}
		}
	}
}

// sqliteCommand handles a dot command of sqlite3 or duckdb.
func (s sqlRun) sqliteCommand(line string) {
	command, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	operands := clientWords(rest)
	last := ""
	if len(operands) > 0 {
		last = operands[len(operands)-1]
	}
	if at := strings.IndexByte(rest, '|'); at >= 0 && (at == 0 || rest[at-1] == ' ') {
		last = rest[at:]
	}
	switch command {
	case "shell", "system", "sh":
		s.clientShell(rest)
	case "load":
		if len(operands) > 0 {
			s.Touch(operands[0], interlock.Impact{Kind: interlock.ImpactExecute, Via: "sql client load"})
		}
	case "read", "source":
		s.clientScript(rest)
	case "import":
		for _, word := range operands {
			if !strings.HasPrefix(word, "-") {
				s.clientFile(interlock.ImpactRead, command, word)
				break
			}
		}
	case "output", "once", "log", "trace", "save", "backup", "clone":
		s.clientFile(interlock.ImpactWrite, command, last)
	case "restore":
		s.clientFile(interlock.ImpactRead, command, last)
		s.Add(interlock.Impact{Kind: interlock.ImpactWrite, Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Irreversible, Via: "sql client restore",
			Traits: []string{fact.TraitDatabase, fact.TraitOverwrite}})
	case "open":
		s.clientFile(interlock.ImpactRead, command, last)
	}
}

// clientWords splits at blanks, but not within quotes.
func clientWords(text string) (out []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if q := text[0]; q == '\'' || q == '"' {
			if end := strings.IndexByte(text[1:], q); end >= 0 {
				out = append(out, text[1:end+1])
				text = text[end+2:]
				continue
			}
		}
		word := lex.FirstWord(text)
		out = append(out, word)
		text = text[len(word):]
	}
	return out
}
