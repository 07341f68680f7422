package windows

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// comName is the name of a class of COM without its version: winhttp.winhttprequest.5.1 and 5.0 do the same.
func comName(text string) string {
	name := strings.ToLower(strings.Trim(strings.TrimSpace(text), "{}"))
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 || strings.Trim(name[dot+1:], "0123456789") != "" {
			return name
		}
		name = name[:dot]
	}
}

// addType judges source code or a library given to Add-Type.
func (p *psRun) addType(name flow.Field, args []psArg, in psValue, io flow.Streams) psValue {
	if path, ok := parameterValue(args, "-path", 2); ok {
		p.r.Program([]flow.Field{path.one()}, io)
		return psValue{}
	}
	if path, ok := parameterValue(args, "-literalpath", 2); ok {
		p.r.Program([]flow.Field{path.one()}, io)
		return psValue{}
	}
	source, from := "", in.taint()
	for _, a := range args {
		source += " " + a.value.one().Text
		from.Taint(a.value.taint())
	}
	if _, ok := parameterValue(args, "-assemblyname", 2); ok && !strings.ContainsAny(source, "{(") {
		return psValue{} // a library of the system
	}
	if from.Network || from.Decoded {
		p.r.Opaque("Add-Type", from, source)
	}
	p.imports(source)
	p.r.S.Modified(p.r.Unwrapped("Add-Type", flow.Flow{Decoded: from.Decoded && !from.Network}), func() { p.compiled(source) })
	p.r.S.Add(interlock.Impact{Kind: interlock.ImpactExecute, Target: "code", Reach: interlock.ReachWorkspace, Via: "Add-Type",
		Reversibility: interlock.Reversible, Confidence: interlock.Inferred, Traits: []string{fact.TraitInline}})
	return psValue{}
}

// imports looks up the functions that a declaration takes from a system library.
func (p *psRun) imports(source string) {
	for rest := source; p.r.S.Spend(4); {
		i := strings.Index(rest, "extern ")
		if i < 0 {
			return
		}
		declared := rest[:i]
		rest = rest[i+len("extern "):]
		open := strings.IndexByte(rest, '(')
		if open < 0 {
			return
		}
		words := strings.Fields(rest[:open])
		if len(words) == 0 {
			continue
		}
		p.imported(words[len(words)-1])
		if at := strings.LastIndex(declared, "EntryPoint"); at >= 0 { // another name for it
			if begin := strings.IndexByte(declared[at:], '"'); begin >= 0 {
				entry, _ := lex.StringLiteral(declared, at+begin)
				p.imported(entry)
			}
		}
	}
}

// imported judges a function of a system library, whichever letters it takes.
func (p *psRun) imported(function string) {
	function = strings.ToLower(function)
	spec := p.r.S.Know.Lookup("dll:" + function)
	if spec == nil && (strings.HasSuffix(function, "a") || strings.HasSuffix(function, "w")) {
		spec = p.r.S.Know.Lookup("dll:" + function[:len(function)-1])
	}
	if spec != nil {
		p.r.Described(spec, []flow.Field{flow.Literal("dll:" + function)}, flow.Streams{})
	}
}

// compiled reads source of C# or Visual Basic for calls with literal arguments that are described for PowerShell, whose
// classes are the same.
func (p *psRun) compiled(source string) {
	var spaces []string
	know := p.r.S.Know
	for i := 0; i < len(source) && p.r.S.Spend(1); {
		switch c := source[i]; {
		case c == '"' || c == '\'':
			_, i = lex.StringLiteral(source, i)
			continue
		case !lex.IsNameStart(c):
			i++
			continue
		}
		end := i
		for end < len(source) && (lex.IsNameStart(source[end]) || source[end] == '.' || source[end] >= '0' &&
			source[end] <= '9') {
			end++
		}
		name, member := strings.ToLower(source[i:end]), i > 0 && source[i-1] == '.'
		i = end
		if name == "using" || name == "imports" {
			space, _, _ := strings.Cut(strings.TrimLeft(source[end:], " "), ";")
			spaces = append(spaces, typeName(space)+".")
			continue
		}
		if at := lex.SkipAny(source, end, " "); at >= len(source) || source[at] != '(' {
			continue
		}
		literals, next, _ := lex.LiteralArguments(source, end)
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 && !member || len(literals) == 0 {
			continue
		}
		i = next
		args := psValue{}
		for _, text := range literals {
			args.items = append(args.items, flow.Field{Text: text})
		}
		class, method := "", name[dot+1:]
		for _, space := range append([]string{""}, spaces...) {
			if dot > 0 && know.Lookup("["+space+typeName(name[:dot])+"]::"+method) != nil {
				class = space + typeName(name[:dot])
			}
		}
		p.describedCall("["+class+"]::"+method, "."+method, psValue{class: class}, args)
	}
}
