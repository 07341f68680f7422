package sql

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// A sqlRun reads statements for an analysis.
type sqlRun struct{ *flow.Scan }

// Read reads one or more SQL statements.
func Read(s *flow.Scan, in string) { sqlRun{s}.sql(in) }

// ReadFragment records a value that would become a piece of a statement.
func ReadFragment(s *flow.Scan, what, in string) { sqlRun{s}.fragment(what, in) }

// sql analyses one or more SQL statements of any common dialect. It doesn't know the dialect, so where dialects read a
// text differently (a backslash before a quote) it takes it in both ways and keeps all that either would do.
func (s sqlRun) sql(in string) {
	if strings.ContainsAny(in, `\.!`) {
		s.sqlClient(in)
	}
	if len(in) < 1<<10 && s.sqlClientWord(in) {
		return
	}
	tokens, odd := sqlTokens(in, false)
	if fragment := sqlFragment(in, tokens, odd); fragment != "" {
		s.fragment(fragment, in)
		return
	}
	s.sqlStatements(in, tokens, odd)
	if odd.backslash {
		tokens, odd = sqlTokens(in, true)
		odd.open = false // the other reading has said so if both do
		s.sqlStatements(in, tokens, odd)
	}
}

// fragment records a value that would become a piece of a statement.
func (s sqlRun) fragment(what, in string) {
	s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Via: "sql " + what,
		Reversibility: interlock.Irreversible, Confidence: interlock.Inferred,
		Traits: []string{fact.TraitInjection, fact.TraitDatabase}})
	s.Executes(interlock.KindSQL, squeeze(in))
}

func (s sqlRun) sqlStatements(in string, tokens []sqlToken, odd sqlOddities) {
	if !s.Spend(len(tokens)) {
		s.Unknown("sql", fact.TraitWork)
		return
	}
	if sqlDeep(tokens) {
		s.Unknown("sql", fact.TraitNested)
		return
	}
	before := len(s.Impacts)
	for len(tokens) > 0 {
		end := 0
		for end < len(tokens) && !tokens[end].is(";") {
			end++
		}
		if end > 0 {
			s.Executes(interlock.KindSQL, sqlText(tokens[:end]))
			s.sqlStatement(&sqlStatement{tokens: tokens[:end], odd: odd, level: s.Statements.Level})
		}
		tokens = tokens[min(end+1, len(tokens)):]
	}
	switch {
	case odd.open && startsLikeSQL(in):
		s.Unknown("sql", fact.TraitUnparsable)
	case len(s.Impacts) == before:
		s.Add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly,
			Confidence: interlock.Inferred, Via: "sql"})
	}
}

// sqlDeep reports whether parentheses nest beyond MaxNesting: no query is written like that, and what reads it after us may
// give up where we did not.
func sqlDeep(tokens []sqlToken) bool {
	depth := 0
	for _, t := range tokens {
		if depth = max(0, depth+t.nests()); depth > fact.MaxNesting {
			return true
		}
	}
	return false
}

// A sqlStatement is one statement's tokens.
type sqlStatement struct {
	tokens []sqlToken
	odd    sqlOddities
	level  int // bodies of functions it is in
	inner  int // statements around the one being read
}

// sqlStatement analyses one statement by its leading words, and then the functions it calls.
func (s sqlRun) sqlStatement(st *sqlStatement) {
	tokens := st.tokens
	for len(tokens) > 0 && (tokens[0].is("(") || tokens[0].is(")")) {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return
	}
	s.sqlVerb(st, tokens)
	if sqlBatched.Has(tokens[0].upper) { // a statement may follow without a mark between
		s.sqlInner(st, tokens[1:])
	}
	s.sqlFunctions(st)
	s.sqlSecrets(st)
}

// sqlBatched are verbs behind whose statement another may begin without a semicolon.
var sqlBatched = lex.Set([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "EXEC", "EXECUTE", "USE", "PRINT", "SET",
	"DECLARE", "MERGE"})

// sqlReads are verbs that read, steer a session or a transaction, and change nothing that lasts.
var sqlReads = lex.Set([]string{"SELECT", "SHOW", "DESCRIBE", "DESC", "VALUES", "TABLE", "LIST", "LS", "BEGIN",
	"COMMIT", "ROLLBACK",
	"SAVEPOINT", "RELEASE", "START", "END", "ABORT", "USE", "FETCH", "DECLARE", "CLOSE", "OPEN", "MOVE", "DISCARD",
	"HELP", "EXISTS",
	"FROM", "IF", "RETURN", "PRINT", "GO", "LOCK", "UNLOCK", "LISTEN", "UNLISTEN", "DEALLOCATE", "CHECK", "CHECKSUM", "PIVOT",
	"SUMMARIZE", "WHILE", "FOR", "RAISE", "THROW"})

// sqlUpkeep are verbs that reorganise or refresh without changing what is stored.
var sqlUpkeep = lex.Set([]string{"ANALYZE", "ANALYSE", "VACUUM", "REINDEX", "CLUSTER", "OPTIMIZE", "CHECKPOINT", "REFRESH",
	"COMMENT", "NOTIFY",
	"CACHE", "UNCACHE", "FLUSH", "REPAIR", "MSCK", "UPSERT", "RESET", "SETTINGS"})

// sqlOthers are verbs of some dialect whose effect is not looked into.
var sqlOthers = lex.Set([]string{"EXCHANGE", "SYSTEM", "DETACH", "UNLOAD", "PUT", "GET", "REMOVE", "RM", "EXPORT", "IMPORT",
	"INSTALL", "LOAD",
	"SIGNAL", "HANDLER", "PURGE", "CHANGE", "STOP", "BINLOG", "UNDROP", "RENAME", "ASSOCIATE", "AUDIT", "NOAUDIT",
	"FLASHBACK", "DISABLE",
	"ENABLE", "ADD", "RESUME", "SUSPEND", "PAUSE", "UNSET", "SUBSCRIBE", "VALIDATE", "MOVE", "OVERRIDE", "UPDATE",
	"RECONFIGURE", "DBCC", "BULK"})

func (s sqlRun) sqlVerb(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	switch verb {
	case "EXPLAIN":
		if rest, runs := explained(tokens); runs {
			s.sqlVerb(st, rest)
			return
		}
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, "EXPLAIN", "")
	case "WITH", "SELECT", "TABLE", "VALUES", "FROM":
		if findMark(tokens, ":=") > 0 {
			s.sqlDeclare(tokens)
		}
		s.sqlQuery(st, tokens)
	case "MERGE":
		s.sqlMerge(st, tokens)
	case "DECLARE":
		s.sqlDeclare(tokens)
		s.sqlRest(st, tokens)
	case "LOCK", "FLUSH", "RESET":
		s.sqlLock(st, tokens)
	case "INSERT", "REPLACE":
		traits := []string{fact.TraitDatabase}
		if verb == "REPLACE" || findWord(tokens, "OVERWRITE") >= 0 {
			traits = append(traits, fact.TraitOverwrite)
		}
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, verb, sqlNameAfter(tokens, "INTO"), traits...)
	case "UPDATE":
		s.sqlUpdate(st, tokens)
	case "DELETE":
		s.sqlDelete(st, tokens)
	case "TRUNCATE":
		s.sqlAdd(st, interlock.ImpactDelete, interlock.Irreversible, verb,
			sqlName(skipWords(tokens[1:], "TABLE", "ONLY", "IF", "EXISTS")), fact.TraitDatabase, fact.TraitBulk)
	case "DROP":
		s.sqlDrop(st, tokens)
	case "ALTER":
		s.sqlAlter(st, tokens)
	case "CREATE":
		s.sqlCreate(st, tokens)
	case "GRANT", "REVOKE", "DENY", "REASSIGN", "SECURITY":
		s.sqlGrant(st, tokens)
	case "COPY", "LOAD", "BACKUP", "RESTORE", "ATTACH", "BULK", "UNLOAD":
		s.sqlTransfer(st, tokens)
	case "SET", "PRAGMA", "RECONFIGURE":
		s.sqlSet(st, tokens)
	case "CALL", "EXEC", "EXECUTE", "DO", "PREPARE":
		s.sqlCall(st, tokens)
	case "SHUTDOWN", "KILL":
		s.sqlAdd(st, interlock.ImpactSpawn, interlock.Irreversible, verb, "", fact.TraitDatabase)
	case `\`, ".": // a command of a client; sqlClient has read it
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, verb, "")
	default:
		s.sqlRest(st, tokens)
	}
}

// sqlRest handles verbs that need no more than their name, and what is no verb at all.
func (s sqlRun) sqlRest(st *sqlStatement, tokens []sqlToken) {
	verb := tokens[0].upper
	switch {
	case sqlReads.Has(verb):
		s.sqlInner(st, tokens[1:])
		s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, verb, "")
	case verb == "CLUSTER", verb == "VACUUM" && findWord(tokens, "FULL") > 0, verb == "REINDEX" &&
		findWord(tokens, "CONCURRENTLY") < 0:
		// nobody reads or writes meanwhile
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Window, verb, "", fact.TraitDatabase, fact.TraitBreaking)
	case verb == "VACUUM" && stringAfter(tokens, "INTO") != "": // a copy of the whole
		s.Touch(stringAfter(tokens, "INTO"), interlock.Impact{Kind: interlock.ImpactWrite, Via: "sql VACUUM",
			Traits: []string{fact.TraitDatabase, fact.TraitOverwrite}})
	case sqlUpkeep.Has(verb):
		s.sqlAdd(st, interlock.ImpactConfigure, interlock.Reversible, verb, "", fact.TraitDatabase)
	case sqlOthers.Has(verb):
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: "sql " + verb,
			Reversibility: interlock.Window, Confidence: interlock.Unknown,
			Traits: []string{fact.TraitUnsupported, fact.TraitDatabase}})
	default:
		if s.sqlInner(st, tokens) {
			return
		}
		confidence := interlock.Inferred // prose, which a database refuses
		if len(tokens) > 1 && tokens[0].kind == sqlWord && sqlObjects.Has(tokens[1].upper) {
			confidence = interlock.Unknown // a statement of some dialect's own
		}
		s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachWorkspace, Via: "sql",
			Reversibility: interlock.Reversible, Confidence: confidence, Traits: []string{fact.TraitUnparsable}})
	}
}

// sqlOpeners are words behind which a statement begins; sqlOpened are verbs that can be nothing else there.
var sqlOpeners = lex.Set([]string{"BEGIN", "THEN", "ELSE", "LOOP", "REPEAT", "DO", "AS", "IS", "ROW", "ATOMIC", "STATEMENT"})
var sqlOpened = lex.Set([]string{"DROP", "TRUNCATE", "ALTER", "GRANT", "REVOKE", "COPY", "CREATE", "EXEC", "EXECUTE", "CALL",
	"KILL", "SHUTDOWN", "BACKUP", "RESTORE", "PREPARE", "LOAD"})

// sqlInner analyses statements inside another: in a block, a common table expression or a COPY. It reports whether it
// found any.
func (s sqlRun) sqlInner(st *sqlStatement, tokens []sqlToken) (found bool) {
	if st.inner++; st.inner > fact.MaxDepth {
		s.Unknown("sql", fact.TraitNested)
		return true
	}
	defer func() { st.inner-- }()
	for i := range tokens {
		rest := tokens[i:]
		if rest[0].kind != sqlWord || rest[0].upper == "" {
			continue
		}
		if sqlHeads.Has(rest[0].upper) && !s.Spend(len(rest)/64+1) {
			s.Unknown("sql", fact.TraitWork)
			return true
		}
		next := sqlUpper(rest, 1)
		if i > 0 && sqlOpened.Has(rest[0].upper) && sqlOpeners.Has(tokens[i-1].upper) && next != "FUNCTION" && next != "PROCEDURE" &&
			next != "ON" && (i < 2 || !tokens[i-2].is(".")) {
			s.sqlVerb(st, rest)
			return true
		}
		switch rest[0].upper {
		case "DROP", "TRUNCATE", "ALTER":
			if sqlObjects.Has(next) && (i == 0 || !tokens[i-1].is(".") && !tokens[i-1].is(",")) {
				s.sqlVerb(st, rest)
				return true
			}
		default:
			found = s.sqlInnerVerb(st, rest) || found
		}
	}
	return found
}

// sqlInnerVerb reads what a word within a statement begins if the words behind it make it a verb, and reports whether they do.
func (s sqlRun) sqlInnerVerb(st *sqlStatement, rest []sqlToken) bool {
	next := sqlUpper(rest, 1)
	switch rest[0].upper {
	case "DELETE":
		if next != "FROM" {
			return false
		}
		s.sqlDelete(st, rest)
	case "UPDATE":
		if findWord(rest[:min(len(rest), 8)], "SET") < 2 || next == "ON" || next == "OF" {
			return false
		}
		s.sqlUpdate(st, rest)
	case "INSERT", "MERGE":
		if next != "INTO" && next != "OVERWRITE" {
			return false
		}
		s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, rest[0].upper, sqlNameAfter(rest, "INTO"), fact.TraitDatabase)
	case "EXECUTE", "EXEC":
		if !executes(rest, next) {
			return false
		}
		s.sqlCall(st, rest)
	default:
		return false
	}
	return true
}

// executes reports whether what comes behind EXECUTE is a text to be run.
func executes(rest []sqlToken, next string) bool {
	switch next {
	case "IMMEDIATE", "SP_EXECUTESQL", "MASTER":
		return true
	case "FORMAT", "CONCAT":
		if len(rest) > 2 && rest[2].is("(") {
			return true
		}
	}
	return len(rest) > 1 && (rest[1].kind == sqlString || rest[1].is("(") || parameter(rest[1].text))
}

// sqlQuery analyses a query: what it changes inside, where its result goes, and which table it reads.
func (s sqlRun) sqlQuery(st *sqlStatement, tokens []sqlToken) {
	if tokens[0].upper == "WITH" {
		s.sqlInner(st, tokens)
	}
	if into := findWord(tokens, "INTO"); into >= 0 && into+1 < len(tokens) {
		switch after := tokens[into+1:]; {
		case (after[0].upper == "OUTFILE" || after[0].upper == "DUMPFILE") && len(after) > 1:
			s.Touch(after[1].text, interlock.Impact{Kind: interlock.ImpactWrite, Via: "SELECT INTO " + after[0].upper,
				Reversibility: interlock.Irreversible, Traits: []string{fact.TraitDatabase, fact.TraitRemote}})
		case tokens[0].upper == "SELECT" && after[0].kind == sqlWord && findWord(tokens[:into], "INSERT") < 0:
			s.sqlAdd(st, interlock.ImpactWrite, interlock.Reversible, "SELECT INTO", sqlName(after), fact.TraitDatabase)
		}
	}
	s.sqlAdd(st, interlock.ImpactRead, interlock.Readonly, "SELECT", sqlNameAfter(tokens, "FROM"))
}

func (s sqlRun) sqlUpdate(st *sqlStatement, tokens []sqlToken) {
	if !s.Spend(len(tokens)) {
		s.Unknown("sql", fact.TraitWork)
		return
	}
	reversibility, traits := interlock.Reversible, []string{fact.TraitDatabase}
	table := sqlName(skipWords(tokens[1:], "ONLY", "LOW_PRIORITY", "IGNORE", "OR", "REPLACE", "ROLLBACK", "ABORT"))
	if !s.effectiveWhere(tokens, table) {
		reversibility = interlock.Irreversible
		traits = append(traits, fact.TraitBulk)
	}
	s.sqlAdd(st, interlock.ImpactWrite, reversibility, "UPDATE", table, traits...)
	if end := sqlClausesOf(tokens).where; grantsRole(tokens[:len(tokens)-min(len(tokens), len(end))]) {
		s.sqlAdd(st, interlock.ImpactPrivilege, interlock.Window, "UPDATE", table, fact.TraitAccount)
	}
}

func (s sqlRun) sqlDelete(st *sqlStatement, tokens []sqlToken) {
	if !s.Spend(len(tokens)) {
		s.Unknown("sql", fact.TraitWork)
		return
	}
	reversibility, traits := interlock.Window, []string{fact.TraitDatabase}
	table := sqlNameAfter(tokens, "FROM")
	if !s.effectiveWhere(tokens, table) {
		reversibility = interlock.Irreversible
		traits = append(traits, fact.TraitBulk)
	}
	s.sqlAdd(st, interlock.ImpactDelete, reversibility, "DELETE", table, traits...)
}

// effectiveWhere reports whether a statement changes some rows of a table only. What its conditions mean is decided by
// parsing them; where one can't be parsed whole, a look at its tokens has to do.
func (s sqlRun) effectiveWhere(tokens []sqlToken, target string) bool {
	narrow, whole := s.narrows(tokens, target)
	if whole {
		return narrow
	}
	c := sqlClausesOf(tokens)
	if c.where == nil {
		return len(c.joins) > 0
	}
	return tokensNarrow(c.where)
}

// tokensNarrow judges a condition that could not be parsed. A part that is always true and is alone or beside an OR
// makes it worthless.
func tokensNarrow(condition []sqlToken) bool {
	for len(condition) > 0 && condition[0].is("(") {
		condition = condition[1:]
	}
	for len(condition) > 0 && condition[len(condition)-1].is(")") {
		condition = condition[:len(condition)-1]
	}
	if len(condition) == 0 {
		return false
	}
	if tautology(condition) {
		return false
	}
	for i := range condition {
		if condition[i].upper == "OR" && tautology(condition[i+1:]) {
			return false
		}
	}
	return true
}

// tautology reports whether tokens begin with a condition that is true of every row and is the whole condition, or is
// followed by OR.
func tautology(tokens []sqlToken) bool {
	for len(tokens) > 0 && tokens[0].is("(") {
		tokens = tokens[1:]
	}
	ends := func(n int) bool {
		for n < len(tokens) && tokens[n].is(")") {
			n++
		}
		return n >= len(tokens) || tokens[n].upper == "OR" || tokens[n].upper == "RETURNING" || tokens[n].upper == "ORDER"
	}
	if len(tokens) == 0 {
		return false
	}
	if first := tokens[0]; first.upper == "TRUE" || first.kind == sqlNumber && strings.Trim(first.text, "0.") != "" {
		if ends(1) {
			return true
		}
	}
	if len(tokens) >= 2 && tokens[0].upper == "NOT" && (tokens[1].upper == "FALSE" || tokens[1].text == "0") && ends(2) {
		return true
	}
	if len(tokens) < 3 || !ends(3) {
		return false
	}
	return holdsAlways(tokens[0], tokens[1], tokens[2])
}

// holdsAlways reports whether a comparison is true whatever a row holds.
func holdsAlways(left, operator, right sqlToken) bool {
	same := left.kind == right.kind && strings.EqualFold(left.text, right.text)
	constant := left.kind != sqlWord && right.kind != sqlWord
	switch operator.text {
	case "=", ">=", "<=", "==":
		return same
	case "<>", "!=", ">", "<":
		return constant && !same && (left.kind == sqlString || operator.text != "<" && operator.text != ">" ||
			operator.text == "<" && len(left.text) <= len(right.text) && left.text < right.text || operator.text == ">" &&
			left.text > right.text)
	}
	return strings.EqualFold(operator.text, "LIKE") && (same || right.text == "%")
}

// sqlAdd records an impact on a database object. Where the database runs is not known from a statement; only its names
// can say that it is production.
func (s sqlRun) sqlAdd(st *sqlStatement, kind interlock.ImpactKind, r interlock.Reversibility, via, target string,
	traits ...string) {
	i := interlock.Impact{Kind: kind, Target: target, Reach: interlock.ReachWorkspace, Reversibility: r,
		Via: "sql " + via, Traits: traits}
	if target != "" && s.Production(target) {
		i.Reach = interlock.ReachProduction
	} else if target != "" && s.Staging(target) {
		i.Traits = append(i.Traits, fact.TraitStaging)
	}
	if st.odd.hidden {
		i.Traits = append(i.Traits, fact.TraitObfuscated)
	}
	s.Add(i)
}
