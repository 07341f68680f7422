package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// sqlTransfer handles statements that move data between a database and files, programs or other servers.
func (s sqlRun) sqlTransfer(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	if verb == "LOAD" && len(tokens) > 1 && tokens[1].kind == sqlString { // a library of the server's machine
		s.Touch(tokens[1].text, interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem,
			Reversibility: interlock.Window,
			Via:           "sql LOAD", Traits: []string{fact.TraitDatabase, fact.TraitRemote}})
		return
	}
	if program := findWord(tokens, "PROGRAM"); verb == "COPY" && program > 0 && program+1 < len(tokens) &&
		tokens[program+1].kind == sqlString {
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Irreversible,
			Via: "sql COPY PROGRAM", Traits: []string{fact.TraitDatabase, fact.TraitRemote}})
		s.Nested(interlock.KindShell, tokens[program+1].text)
		return
	}
	s.sqlInner(st, tokens[1:])
	path := transferPath(tokens)
	out := findDeep(tokens, "TO") > 0 || verb == "BACKUP" || verb == "UNLOAD"
	switch {
	case strings.Contains(path, "://") || strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//"):
		kind, traits := interlock.ImpactNetwork, []string{fact.TraitDatabase, fact.TraitDownload}
		if out {
			traits[1] = fact.TraitUpload
		}
		s.Add(interlock.Impact{Kind: kind, Target: know.CleanURL(path), Reach: interlock.ReachExternal,
			Reversibility: interlock.Window, Via: "sql " + verb, Traits: traits})
	case path != "" && verb == "ATTACH":
		s.sqlAttach(path)
	case path != "":
		i := interlock.Impact{Kind: interlock.ImpactRead, Via: "sql " + verb, Traits: []string{fact.TraitDatabase}}
		if out {
			i.Kind = interlock.ImpactWrite
		}
		if verb != "BACKUP" && verb != "RESTORE" && findWord(tokens, "LOCAL") < 0 { // the server's own files, no matter who asks
			i.Traits = append(i.Traits, fact.TraitRemote)
			if strings.HasPrefix(path, "/") || len(path) > 1 && path[1] == ':' {
				i.Reach = s.serverReach(path)
			}
		}
		s.Touch(path, i)
	}
	switch {
	case verb == "ATTACH" || verb == "BACKUP" || verb == "UNLOAD":
	case out:
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, verb, sqlName(tokens[1:]), fact.TraitDatabase, fact.TraitBulk)
	case verb == "RESTORE":
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Irreversible, verb, sqlNameAfter(tokens, "DATABASE"), fact.TraitDatabase,
			fact.TraitOverwrite)
	default:
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, verb, sqlNameAfter(tokens, "INTO"), fact.TraitDatabase)
	}
}

// serverReach is how far a path of the server's machine lies. One inside the workspace is taken for a file of this project,
// on a server that runs here.
func (s sqlRun) serverReach(path string) interlock.Reach {
	if p := s.Place(path); p.Reach == interlock.ReachWorkspace && s.View.Workspace != "" &&
		place.Below(p.Path, s.View.Workspace) {
		return interlock.ReachWorkspace
	}
	return interlock.ReachSystem
}

// findDeep finds a word outside brackets.
func findDeep(tokens []sqlToken, word string) int {
	depth := 0
	for i, t := range tokens {
		if depth += t.nests(); depth == 0 && t.kind == sqlWord && t.upper == word {
			return i
		}
	}
	return -1
}

// stringAfter returns the text in quotation marks that follows a word, or nothing.
func stringAfter(tokens []sqlToken, word string) string {
	if i := findDeep(tokens, word); i > 0 && i+1 < len(tokens) && tokens[i+1].kind == sqlString {
		return tokens[i+1].text
	}
	return ""
}

// transferPath finds the file or address of a COPY, LOAD, BACKUP, RESTORE or ATTACH.
func transferPath(tokens []sqlToken) string {
	if tokens[0].upper == "ATTACH" {
		for _, t := range tokens[1:min(len(tokens), 6)] {
			if t.kind == sqlString || t.kind == sqlWord && t.upper == "" {
				return t.text
			}
		}
		return ""
	}
	for _, word := range []string{"INFILE", "DISK", "URL", "DATABASE", "FROM", "TO"} {
		i := findDeep(tokens, word)
		if i < 0 || i+1 >= len(tokens) {
			continue
		}
		after := skipMarks(skipWords(tokens[i+1:], "DISK", "URL"), "=")
		if len(after) > 0 && after[0].kind == sqlString {
			return after[0].text
		}
	}
	return ""
}

// sqlAttach handles a second database file. One that is named like a script or a page becomes one, with a row's text inside.
func (s sqlRun) sqlAttach(path string) {
	if path == "" || strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file::memory:") {
		return
	}
	path = strings.TrimPrefix(path, "file:")
	path, _, _ = strings.Cut(path, "?")
	i := interlock.Impact{Kind: interlock.ImpactWrite, Via: "sql ATTACH", Traits: []string{fact.TraitDatabase}}
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && sqlScripts.Has(name[dot+1:]) {
		i.Traits = append(i.Traits, fact.TraitRemote, fact.TraitOverwrite)
		i.Reach, i.Reversibility = interlock.ReachSystem, interlock.Irreversible
	} else if p := s.Place(path); p.Reach != interlock.ReachWorkspace {
		i.Kind = interlock.ImpactRead
		i.Traits = append(i.Traits, fact.TraitRemote)
		if strings.Contains(strings.ToLower(path), "login data") || strings.Contains(name, "cookies") ||
			strings.HasPrefix(name, "key4") || strings.HasPrefix(name, "logins") {
			i.Traits = append(i.Traits, fact.TraitSecret)
		}
	}
	s.Touch(path, i)
}

var sqlScripts = lex.Set([]string{"php", "phtml", "php5", "php7", "phar", "jsp", "jspx", "asp", "aspx", "cgi", "sh", "bash", "py",
	"pl", "rb", "js", "ps1", "bat", "cmd", "vbs", "so", "dll", "exe", "html", "htm", "service", "conf", "desktop", "htaccess"})
