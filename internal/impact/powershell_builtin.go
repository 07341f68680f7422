package impact

import (
	"strings"

	"interlock"
)

type psBuiltin func(p *psRun, name field, args []psArg, in psValue, io streams) psValue

// builtin returns what the reader itself follows under a name, or nil. Everything else is data.
func (p *psRun) builtin(name string) psBuiltin {
	switch name {
	case "iex", "invoke-expression":
		return (*psRun).evaluate
	case "%", "foreach", "foreach-object":
		return (*psRun).forEach
	case "?", "where", "where-object", "sort", "sort-object", "group-object", "tee", "tee-object", "out-string", "oss", "select", "select-object",
		"out-default", "out-host", "format-table", "ft", "format-list", "fl", "format-wide", "convertfrom-json", "convertto-json", "get-unique", "write-progress":
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
	case "write-host", "write-verbose", "write-warning", "write-error", "write-debug", "write-information", "out-null", "start-sleep", "sleep", "cls", "clear-host", "set-strictmode", "test-path":
		return (*psRun).silent
	}
	return nil
}

func (p *psRun) silent(_ field, args []psArg, _ psValue, io streams) psValue {
	return psUnknown("$true", io.args)
}

// evaluate runs text as code: Invoke-Expression.
func (p *psRun) evaluate(name field, args []psArg, in psValue, io streams) psValue {
	v, ok := parameterValue(args, "-command", 2)
	if !ok {
		if given := positionalValues(args); len(given) > 0 {
			v = given[0]
		} else {
			v = in
		}
	}
	if name.odd {
		v.items = append([]field(nil), v.items...)
		for i := range v.items {
			v.items[i].odd = true
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
	if f.flow.network {
		p.runs(via, v)
		return psUnknown("$output", flow{})
	}
	if f.dynamic && f.lead || f.text == "" {
		if p.r.socket {
			p.r.reverse(via, "")
		}
		p.runs(via, v)
		return psUnknown("$output", v.taint())
	}
	w := words{}
	if f.odd || f.flow.decoded {
		w.traits = []string{TraitObfuscated}
	}
	if f.flow.decoded {
		w.traits = append(w.traits, TraitDecoded)
	}
	var out psValue
	p.r.text([]field{f})
	p.r.s.modified(w, func() { out = p.inner(f.text) })
	if len(w.traits) > 0 {
		p.r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: via, Reach: interlock.ReachWorkspace, Via: via,
			Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: append([]string{TraitInline}, w.traits...)})
	}
	return out
}

// forEach runs a block, or calls a member, for what comes through the pipeline.
func (p *psRun) forEach(_ field, args []psArg, in psValue, io streams) psValue {
	var out psValue
	walked := false
	for _, code := range scriptBlocks(args) {
		walked = true
		out = p.both(out, p.each1(in, code))
	}
	if given := positionalValues(args); !walked && len(given) > 0 {
		return p.method(in, strings.ToLower(given[0].one().text), psValue{}, false)
	}
	return out
}

// passes hands on what comes through the pipeline, or what stands in its argument.
func (p *psRun) passes(name field, args []psArg, in psValue, io streams) psValue {
	for _, code := range scriptBlocks(args) {
		p.invoke(code, nil, in)
	}
	if strings.HasPrefix(strings.ToLower(name.text), "tee") {
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
		if given := positionalValues(args); len(given) > 0 && !strings.HasPrefix(strings.ToLower(name.text), "select") {
			return given[0]
		}
	}
	out := in
	out.items = append([]field(nil), in.items...)
	for i := range out.items { // some of them
		out.items[i].glob = out.items[i].glob || len(out.items) > 1
	}
	return out
}

// block runs the script blocks a command is given, elsewhere where it names another computer.
func (p *psRun) block(name field, args []psArg, in psValue, io streams) psValue {
	w := words{}
	if where, ok := parameterValue(args, "-computername", 3); ok {
		reach, _ := p.r.s.host(where.one().text)
		if reach != interlock.ReachWorkspace {
			w.reach, w.traits = reach, []string{TraitRemote}
			p.r.s.add(interlock.Impact{Kind: interlock.ImpactExecute, Target: hostOf(where.one().text), Reach: reach, Via: name.text,
				Reversibility: interlock.Irreversible, Traits: []string{TraitRemote}})
		}
	}
	var out psValue
	p.r.s.modified(w, func() {
		for _, code := range scriptBlocks(args) {
			out = p.both(out, p.invoke(code, args, in))
		}
		for _, v := range positionalValues(args, "-computername", "-credential", "-name", "-argumentlist") {
			if !v.block && len(v.items) == 1 && v.items[0].dynamic {
				p.runs(name.text, v)
			}
		}
		if file, ok := parameterValue(args, "-filepath", 3); ok {
			p.r.program([]field{file.one()}, io)
		}
	})
	return out
}

// process judges what Start-Process starts as the command it is.
func (p *psRun) process(name field, args []psArg, in psValue, io streams) psValue {
	valued := []string{"-filepath", "-argumentlist", "-args", "-verb", "-windowstyle", "-workingdirectory", "-redirectstandardoutput", "-redirectstandardinput", "-redirectstandarderror", "-credential"}
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
	w := words{}
	if verb, ok := parameterValue(args, "-verb", 4); ok && strings.EqualFold(verb.one().text, "runas") {
		w.traits = append(w.traits, TraitElevated)
	}
	target := file.one()
	if target.text == "" && !target.dynamic {
		return psValue{}
	}
	if strings.Contains(target.text, "://") { // what opens addresses
		return psValue{}
	}
	base, _ := programName(strings.ToLower(target.text))
	var out psValue
	p.r.s.modified(w, func() {
		p.r.text(append([]field{target}, list.fields()...))
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
func splitBlanks(f field) []field {
	if !strings.ContainsAny(f.text, " \t") {
		return []field{f}
	}
	var out []field
	quoted, start := false, 0
	put := func(end int) {
		if text := strings.ReplaceAll(f.text[start:end], `"`, ""); strings.TrimSpace(text) != "" && len(out) < maxList {
			one := f
			one.text, one.lead = strings.TrimSpace(text), f.lead && start == 0
			out = append(out, one)
		}
		start = end
	}
	for i := 0; i < len(f.text); i++ {
		switch c := f.text[i]; {
		case c == '"':
			quoted = !quoted
		case isBlank(c) && !quoted:
			put(i)
		}
	}
	put(len(f.text))
	return out
}

func (p *psRun) location(name field, args []psArg, _ psValue, _ streams) psValue {
	to, ok := parameterValue(args, "-path", 2)
	if !ok {
		to, ok = parameterValue(args, "-literalpath", 2)
	}
	if !ok {
		given := positionalValues(args)
		if len(given) == 0 {
			if r := p.r; strings.HasPrefix(strings.ToLower(name.text), "pop") && len(r.stack) > 0 {
				r.s.dir, r.stack = r.stack[len(r.stack)-1], r.stack[:len(r.stack)-1]
			}
			return psValue{}
		}
		to = given[0]
	}
	p.r.stack = append(p.r.stack, p.r.s.dir)
	p.r.chdir(to.one())
	return psValue{}
}

func (p *psRun) alias(_ field, args []psArg, _ psValue, _ streams) psValue {
	given := positionalValues(args, "-option", "-scope", "-description", "-name", "-value")
	if name, ok := parameterValue(args, "-name", 2); ok {
		given = append([]psValue{name}, given...)
	}
	if value, ok := parameterValue(args, "-value", 2); ok {
		given = append(given, value)
	}
	if len(given) > 1 && len(p.aliases) < maxList {
		p.aliases[strings.ToLower(given[0].one().text)] = given[1].one().text
	}
	return psValue{}
}

func (p *psRun) setVariable(_ field, args []psArg, in psValue, _ streams) psValue {
	given := positionalValues(args, "-option", "-scope", "-name", "-value", "-visibility")
	if name, ok := parameterValue(args, "-name", 2); ok {
		given = append([]psValue{name}, given...)
	}
	if value, ok := parameterValue(args, "-value", 3); ok {
		given = append(given, value)
	} else if len(given) == 1 && !in.empty() {
		given = append(given, in)
	}
	if len(given) > 1 {
		p.vars[strings.ToLower(given[0].one().text)] = given[1]
	}
	return psValue{}
}

func (p *psRun) getVariable(_ field, args []psArg, _ psValue, io streams) psValue {
	given := positionalValues(args)
	if len(given) == 0 {
		return psUnknown("$variables", io.args)
	}
	v := p.variable(strings.ToLower(given[0].one().text))
	v.class = "variable"
	return v
}

// says gives its arguments on: echo, and what only makes names out of names.
func (p *psRun) says(name field, args []psArg, in psValue, io streams) psValue {
	given := positionalValues(args)
	for _, parameter := range [...]string{"-path", "-childpath", "-inputobject", "-literalpath"} {
		if v, ok := parameterValue(args, parameter, 2); ok && len(v.items) > 0 && parameter != "-path" {
			given = append(given, v)
		}
	}
	var out psValue
	for i, v := range given {
		if strings.HasPrefix(strings.ToLower(name.text), "join") {
			if i == 0 {
				out = psField(v.one())
				continue
			}
			out = psField(join(join(out.one(), literal("/")), v.one()))
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
func (p *psRun) named(_ field, args []psArg, _ psValue, io streams) psValue {
	given := positionalValues(args, "-commandtype", "-module")
	if v, ok := parameterValue(args, "-name", 2); ok {
		given = append([]psValue{v}, given...)
	}
	if len(given) == 0 {
		return psUnknown("$command", io.args)
	}
	f := given[0].one()
	if !isGlob(f.text) {
		f.odd = f.odd || f.glob
		return psField(f)
	}
	f.odd = true
	pattern := strings.ToLower(f.text)
	if matchGlob(pattern, "invoke-expression") || matchGlob(pattern, "iex") {
		f.text, f.glob = "Invoke-Expression", false
	}
	return psField(f)
}

func (p *psRun) newObject(_ field, args []psArg, _ psValue, io streams) psValue {
	class, ok := parameterValue(args, "-typename", 2)
	given := positionalValues(args, "-typename", "-property", "-comobject", "-argumentlist")
	if com, isCOM := parameterValue(args, "-comobject", 2); isCOM {
		return p.object("com:"+comName(com.one().text), psValue{flow: io.args})
	}
	if !ok && len(given) > 0 {
		class, given = given[0], given[1:]
	}
	list, ok := parameterValue(args, "-argumentlist", 2)
	if !ok && len(given) > 0 {
		list = given[0]
	}
	name := typeName(class.one().text)
	if open := strings.IndexByte(name, '('); open > 0 {
		name = name[:open]
	}
	return p.object(name, list)
}

// stores judges what writes its argument or the pipeline to a file, and remembers what the file holds then.
func (p *psRun) stores(name field, args []psArg, in psValue, io streams) psValue {
	base := strings.ToLower(name.text)
	spec := p.r.s.know.lookup("ps:" + base)
	if spec == nil {
		spec = p.r.s.know.lookup(base)
	}
	if spec == nil || spec.style != "cmdlet" {
		return psValue{}
	}
	u := p.bind(spec, args, psValue{})
	p.r.text(append([]field{name}, plainArgs(args)...))
	value := in
	if v, ok := parameterValue(args, "-value", 2); ok {
		value = v
	} else if len(u.operands) > 1 {
		value = psField(u.operands[1])
	}
	io.args.taint(value.taint())
	p.r.use(u, append([]field{name}, u.operands...), io)
	if len(u.operands) > 0 {
		place := p.r.placeOf(u.operands[0], true)
		p.r.deliver(streams{out: []string{place.Path}, quiet: true}, value.asFlow())
	}
	return psValue{}
}

func (p *psRun) nestedShell(name field, args []psArg, in psValue, io streams) psValue {
	if blocks := scriptBlocks(args); len(blocks) > 0 {
		var out psValue
		for _, code := range blocks {
			out = p.both(out, p.invoke(code, nil, in))
		}
		return out
	}
	return p.external(name, "powershell", false, args, in, io)
}

func (p *psRun) nestedCmd(name field, args []psArg, in psValue, io streams) psValue {
	plain := plainArgs(args)
	p.r.text(append([]field{name}, plain...))
	return p.output(p.r.cmdArguments(plain, io))
}
