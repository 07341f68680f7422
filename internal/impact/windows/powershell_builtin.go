package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

type psBuiltin func(p *psRun, name flow.Field, args []psArg, in psValue, io flow.Streams) psValue

// builtin returns what the reader itself follows under a name, or nil. Everything else is data.
func (p *psRun) builtin(name string) psBuiltin {
	switch name {
	case "iex", "invoke-expression":
		return (*psRun).evaluate
	case "%", "foreach", "foreach-object":
		return (*psRun).forEach
	case "?", "where", "where-object", "sort", "sort-object", "group-object", "tee", "tee-object", "out-string", "oss",
		"select", "select-object",
		"out-default", "out-host", "format-table", "ft", "format-list", "fl", "format-wide", "convertfrom-json", "convertto-json",
		"get-unique", "write-progress":
		return (*psRun).passes
	case "icm", "invoke-command", "start-job", "sajb", "start-threadjob", "measure-command":
		return (*psRun).block
	case "saps", "start-process", "start":
		return (*psRun).process
	case "cd", "chdir", "sl", "set-location", "pushd", "push-location", "popd", "pop-location":
		return (*psRun).location
	case "sal", "nal", "set-alias", "new-alias":
		return (*psRun).alias
	case "sv", "set", "nv", "set-variable", "new-variable":
		return (*psRun).setVariable
	case "gv", "get-variable":
		return (*psRun).getVariable
	case "echo", "write", "write-output", "join-path", "resolve-path", "rvpa", "convert-path":
		return (*psRun).says
	case "gcm", "get-command":
		return (*psRun).named
	case "new-object":
		return (*psRun).newObject
	case "add-type":
		return (*psRun).addType
	case "set-content", "sc", "add-content", "ac", "out-file":
		return (*psRun).stores
	case "powershell", "pwsh":
		return (*psRun).nestedShell
	case "cmd":
		return (*psRun).nestedCmd
	case "write-host", "write-verbose", "write-warning", "write-error", "write-debug", "write-information", "out-null",
		"start-sleep", "sleep", "cls", "clear-host", "set-strictmode", "test-path":
		return (*psRun).silent
	}
	return nil
}

func (p *psRun) silent(_ flow.Field, args []psArg, _ psValue, io flow.Streams) psValue {
	return psUnknown("$true", io.Args)
}

// evaluate runs text as code: Invoke-Expression.
func (p *psRun) evaluate(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	v, ok := parameterValue(args, "-command", 2)
	if !ok {
		if given := positionalValues(args); len(given) > 0 {
			v = given[0]
		} else {
			v = in
		}
	}
	if name.Odd {
		v.items = append([]flow.Field(nil), v.items...)
		for i := range v.items {
			v.items[i].Odd = true
		}
	}
	return p.runText("Invoke-Expression", v)
}

// runText walks a value as code.
func (p *psRun) runText(via string, v psValue) psValue {
	if v.block {
		return p.invoke(v.code, nil, psValue{})
	}
	f := v.one()
	if f.Flow.Network {
		p.runs(via, v)
		return psUnknown("$output", flow.Flow{})
	}
	if f.Dynamic && f.Lead || f.Text == "" {
		if p.r.Socket {
			p.r.Reverse(via, "")
		}
		p.runs(via, v)
		return psUnknown("$output", v.taint())
	}
	w := know.Words{}
	if f.Odd || f.Flow.Decoded {
		w.Traits = []string{fact.TraitObfuscated}
	}
	if f.Flow.Decoded {
		w.Traits = append(w.Traits, fact.TraitDecoded)
	}
	var out psValue
	p.r.Text([]flow.Field{f})
	p.r.S.Modified(w, func() { out = p.inner(f.Text) })
	if len(w.Traits) > 0 {
		p.r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred,
			Traits: append([]string{fact.TraitInline}, w.Traits...)})
	}
	return out
}

// forEach runs a block, or calls a member, for what comes through the pipeline.
func (p *psRun) forEach(_ flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	var out psValue
	walked := false
	for _, code := range scriptBlocks(args) {
		walked = true
		out = p.both(out, p.each1(in, code))
	}
	if given := positionalValues(args); !walked && len(given) > 0 {
		return p.method(in, strings.ToLower(given[0].one().Text), psValue{}, false)
	}
	return out
}

// passes hands on what comes through the pipeline, or what is in its argument.
func (p *psRun) passes(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	for _, code := range scriptBlocks(args) {
		p.invoke(code, nil, in)
	}
	if strings.HasPrefix(strings.ToLower(name.Text), "tee") {
		if to := positionalValues(args); len(to) > 0 {
			p.sendTo(to[0], false, in)
		} else if to, ok := parameterValue(args, "-filepath", 2); ok {
			p.sendTo(to, false, in)
		}
	}
	if in.empty() {
		if v, ok := parameterValue(args, "-inputobject", 3); ok {
			return v
		}
		if given := positionalValues(args); len(given) > 0 && !strings.HasPrefix(strings.ToLower(name.Text), "select") {
			return given[0]
		}
	}
	out := in
	out.items = append([]flow.Field(nil), in.items...)
	for i := range out.items { // some of them
		out.items[i].Glob = out.items[i].Glob || len(out.items) > 1
	}
	return out
}

// block runs the script blocks a command is given, elsewhere where it names another computer.
func (p *psRun) block(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	w := know.Words{}
	if where, ok := parameterValue(args, "-computername", 3); ok {
		reach, _ := p.r.S.Host(where.one().Text)
		if reach != interlock.ReachWorkspace {
			w.Reach, w.Traits = reach, []string{fact.TraitRemote}
			p.r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: place.HostOf(where.one().Text),
				Reach: reach, Via: name.Text,
				Reversibility: interlock.Irreversible, Traits: []string{fact.TraitRemote}})
		}
	}
	var out psValue
	p.r.S.Modified(w, func() {
		for _, code := range scriptBlocks(args) {
			out = p.both(out, p.invoke(code, args, in))
		}
		for _, v := range positionalValues(args, "-computername", "-credential", "-name", "-argumentlist") {
			if !v.block && len(v.items) == 1 && v.items[0].Dynamic {
				p.runs(name.Text, v)
			}
		}
		if file, ok := parameterValue(args, "-filepath", 3); ok {
			p.r.Program([]flow.Field{file.one()}, io)
		}
	})
	return out
}

// process judges what Start-Process starts as the command it is.
func (p *psRun) process(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	valued := []string{"-filepath", "-argumentlist", "-args", "-verb", "-windowstyle", "-workingdirectory",
		"-redirectstandardoutput", "-redirectstandardinput", "-redirectstandarderror", "-credential"}
	given := positionalValues(args, valued...)
	file, ok := parameterValue(args, "-filepath", 2)
	if !ok && len(given) > 0 {
		file, given = given[0], given[1:]
	}
	list, ok := parameterValue(args, "-argumentlist", 2)
	if !ok {
		list, ok = parameterValue(args, "-args", 3)
	}
	if !ok && len(given) > 0 {
		list = given[0]
	}
	w := know.Words{}
	if verb, ok := parameterValue(args, "-verb", 4); ok && strings.EqualFold(verb.one().Text, "runas") {
		w.Traits = append(w.Traits, fact.TraitElevated)
	}
	target := file.one()
	if target.Text == "" && !target.Dynamic {
		return psValue{}
	}
	if strings.Contains(target.Text, "://") { // what opens addresses
		return psValue{}
	}
	base, _ := ProgramName(strings.ToLower(target.Text))
	var out psValue
	p.r.S.Modified(w, func() {
		p.r.Text(append([]flow.Field{target}, list.fields()...))
		if base == "powershell" || base == "pwsh" || base == "cmd" { // its arguments are one command line
			out = p.output(p.r.windowsLine(base, list.one(), io))
			return
		}
		words := make([]psArg, 0, len(list.items))
		for _, f := range list.fields() {
			for _, one := range splitBlanks(f) {
				words = append(words, psArg{value: psField(one)})
			}
		}
		out = p.run(target, words, psValue{}, false)
	})
	return out
}

// splitBlanks splits one argument at its blanks, outside quotes, as the started program does.
func splitBlanks(f flow.Field) []flow.Field {
	if !strings.ContainsAny(f.Text, " \t") {
		return []flow.Field{f}
	}
	var out []flow.Field
	quoted, start := false, 0
	put := func(end int) {
		if text := strings.ReplaceAll(f.Text[start:end], `"`, ""); strings.TrimSpace(text) != "" && len(out) < fact.MaxList {
			one := f
			one.Text, one.Lead = strings.TrimSpace(text), f.Lead && start == 0
			out = append(out, one)
		}
		start = end
	}
	for i := 0; i < len(f.Text); i++ {
		switch c := f.Text[i]; {
		case c == '"':
			quoted = !quoted
		case lex.IsBlank(c) && !quoted:
			put(i)
		}
	}
	put(len(f.Text))
	return out
}

func (p *psRun) location(name flow.Field, args []psArg, _ psValue, _ flow.Streams) psValue {
	to, ok := parameterValue(args, "-path", 2)
	if !ok {
		to, ok = parameterValue(args, "-literalpath", 2)
	}
	if !ok {
		given := positionalValues(args)
		if len(given) == 0 {
			if r := p.r; strings.HasPrefix(strings.ToLower(name.Text), "pop") && len(r.Stack) > 0 {
				r.S.Dir, r.Stack = r.Stack[len(r.Stack)-1], r.Stack[:len(r.Stack)-1]
			}
			return psValue{}
		}
		to = given[0]
	}
	p.r.Stack = append(p.r.Stack, p.r.S.Dir)
	p.r.Chdir(to.one())
	return psValue{}
}

// nameAndValue returns what -Name and -Value are given, by position or by name, and whether -Value was named. short is the
// least that -Value may be abbreviated to; others are the parameters besides that take a value.
func nameAndValue(args []psArg, short int, others ...string) (given []psValue, valued bool) {
	given = positionalValues(args, append(others, "-name", "-value")...)
	if name, ok := parameterValue(args, "-name", 2); ok {
		given = append([]psValue{name}, given...)
	}
	value, valued := parameterValue(args, "-value", short)
	if valued {
		given = append(given, value)
	}
	return given, valued
}

func (p *psRun) alias(_ flow.Field, args []psArg, _ psValue, _ flow.Streams) psValue {
	given, _ := nameAndValue(args, 2, "-option", "-scope", "-description")
	if len(given) > 1 && len(p.aliases) < fact.MaxList {
		p.aliases[strings.ToLower(given[0].one().Text)] = given[1].one().Text
	}
	return psValue{}
}

func (p *psRun) setVariable(_ flow.Field, args []psArg, in psValue, _ flow.Streams) psValue {
	given, valued := nameAndValue(args, 3, "-option", "-scope", "-visibility")
	if len(given) == 1 && !valued && !in.empty() {
		given = append(given, in)
	}
	if len(given) > 1 {
		p.vars[strings.ToLower(given[0].one().Text)] = given[1]
	}
	return psValue{}
}

func (p *psRun) getVariable(_ flow.Field, args []psArg, _ psValue, io flow.Streams) psValue {
	given := positionalValues(args)
	if len(given) == 0 {
		return psUnknown("$variables", io.Args)
	}
	v := p.variable(strings.ToLower(given[0].one().Text))
	v.class = "variable"
	return v
}

// says gives its arguments on: echo, and what only makes names out of names.
func (p *psRun) says(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	given := positionalValues(args)
	for _, parameter := range [...]string{"-path", "-childpath", "-inputobject", "-literalpath"} {
		if v, ok := parameterValue(args, parameter, 2); ok && len(v.items) > 0 && parameter != "-path" {
			given = append(given, v)
		}
	}
	var out psValue
	for i, v := range given {
		if strings.HasPrefix(strings.ToLower(name.Text), "join") {
			if i == 0 {
				out = psField(v.one())
				continue
			}
			out = psField(flow.Join(flow.Join(out.one(), flow.Literal("/")), v.one()))
			continue
		}
		out = p.both(out, v)
	}
	if len(given) == 0 {
		return in
	}
	if len(out.items) == 1 {
		out.array = false
	}
	return out
}

// named gives the name of a command, found by a pattern if it is written as one.
func (p *psRun) named(_ flow.Field, args []psArg, _ psValue, io flow.Streams) psValue {
	given := positionalValues(args, "-commandtype", "-module")
	if v, ok := parameterValue(args, "-name", 2); ok {
		given = append([]psValue{v}, given...)
	}
	if len(given) == 0 {
		return psUnknown("$command", io.Args)
	}
	f := given[0].one()
	if !know.IsGlob(f.Text) {
		f.Odd = f.Odd || f.Glob
		return psField(f)
	}
	f.Odd = true
	pattern := strings.ToLower(f.Text)
	if know.MatchGlob(pattern, "invoke-expression") || know.MatchGlob(pattern, "iex") {
		f.Text, f.Glob = "Invoke-Expression", false
	}
	return psField(f)
}

func (p *psRun) newObject(_ flow.Field, args []psArg, _ psValue, io flow.Streams) psValue {
	class, ok := parameterValue(args, "-typename", 2)
	given := positionalValues(args, "-typename", "-property", "-comobject", "-argumentlist")
	if com, isCOM := parameterValue(args, "-comobject", 2); isCOM {
		return p.object("com:"+comName(com.one().Text), psValue{flow: io.Args})
	}
	if !ok && len(given) > 0 {
		class, given = given[0], given[1:]
	}
	list, ok := parameterValue(args, "-argumentlist", 2)
	if !ok && len(given) > 0 {
		list = given[0]
	}
	name := typeName(class.one().Text)
	if open := strings.IndexByte(name, '('); open > 0 {
		name = name[:open]
	}
	return p.object(name, list)
}

// stores judges what writes its argument or the pipeline to a file, and remembers what the file holds then.
func (p *psRun) stores(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	base := strings.ToLower(name.Text)
	spec := p.r.S.Know.Lookup("ps:" + base)
	if spec == nil {
		spec = p.r.S.Know.Lookup(base)
	}
	if spec == nil || spec.Style != "cmdlet" {
		return psValue{}
	}
	u := p.bind(spec, args, psValue{})
	p.r.Text(append([]flow.Field{name}, plainArgs(args)...))
	value := in
	if v, ok := parameterValue(args, "-value", 2); ok {
		value = v
	} else if len(u.Operands) > 1 {
		value = psField(u.Operands[1])
	}
	io.Args.Taint(value.taint())
	p.r.Use(u, append([]flow.Field{name}, u.Operands...), io)
	if len(u.Operands) > 0 {
		place := p.r.PlaceOf(u.Operands[0], true)
		p.r.Deliver(flow.Streams{Out: []string{place.Path}, Quiet: true}, value.asFlow())
	}
	return psValue{}
}

func (p *psRun) nestedShell(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	if blocks := scriptBlocks(args); len(blocks) > 0 {
		var out psValue
		for _, code := range blocks {
			out = p.both(out, p.invoke(code, nil, in))
		}
		return out
	}
	return p.external(name, "powershell", false, args, in, io)
}

func (p *psRun) nestedCmd(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	plain := plainArgs(args)
	p.r.Text(append([]flow.Field{name}, plain...))
	return p.output(p.r.CmdArguments(plain, io))
}
