package know

import (
	"fmt"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
)

// parseOption reads the directives of a flag: "value; write value overwrite; +force".
func parseOption(text string) (*Option, error) {
	o := &Option{}
	for _, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if err := o.directive(part); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *Option) directive(part string) error {
	word, rest, _ := strings.Cut(part, " ")
	if o.plainDirective(word, rest) {
		return nil
	}
	switch word {
	case "operand":
		if o.Value, o.Slot = true, 1; rest != "" {
			o.Slot = int(rest[0] - '0')
		}
		if o.Slot < 1 || o.Slot > MaxSlots || len(rest) > 1 {
			return fmt.Errorf("operand %q is no position", rest)
		}
	case "leaf":
		if o.Value, o.Leaf = true, true; rest != "" {
			o.Slot = int(rest[0] - '0')
		}
	case "nested":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.Value, o.Nested = !o.Last, rest
	case "code":
		if !slices.Contains(codeKinds(), rest) {
			return fmt.Errorf("unknown kind of code %q", rest)
		}
		o.Code = rest
	case "only":
		e, err := parseEffect(rest)
		o.Only = append(o.Only, e)
		return err
	default:
		return o.effectOrWords(part)
	}
	return nil
}

// plainDirective reads a directive that can't be wrong: a word, or a word and what it is about.
func (o *Option) plainDirective(word, rest string) bool {
	switch word {
	case "value", "into":
		o.Value, o.Into = true, word == "into"
	case "optional":
		o.Last = true
	case "dry":
		o.Dry = true
	case "dir":
		o.Value, o.Dir = true, true
	case "exec":
		o.Exec, o.Append = true, rest == "append"
	case "none":
		o.None = true
	case "looks":
		o.Looks = true
	case "changes":
		o.Changes = true
	case "argv":
		o.Argv = true
	case "split":
		o.Value, o.Split = true, true
	case "narrow":
		o.Narrow, o.Naming, o.Sorting = true, rest == "name", rest == "kind"
	case "method":
		o.Value, o.Method = true, true
	case "assign":
		o.Value, o.Assign = true, true
	case "mount":
		o.Value, o.Mount = true, true
	case "size":
		o.Value, o.Size, o.Unit = true, true, rest == "unit"
	case "makes":
		o.Value, o.Makes = true, true
	case "stdin":
		o.Stdin = true
	case "data":
		o.Data = true
	case "feed":
		o.Value, o.Feed = true, true
	case "setting":
		o.Value, o.Setting = true, rest
	case "search":
		o.Value, o.Search = true, true
	case "repository":
		o.Value, o.Folder = true, rest
	case "decode":
		o.Decode = rest
	case "scope":
		o.Value, o.Scope = true, rest
	default:
		return o.runDirective(word, rest)
	}
	return true
}

// runDirective reads a directive about what is run with a flag's value, and what it prints.
func (o *Option) runDirective(word, rest string) bool {
	switch word {
	case "body", "peer":
		o.Value, o.Body, o.Peer = o.Value || word == "body", o.Body || word == "body", o.Peer || word == "peer"
	case "pipe":
		o.Value, o.Pipe = true, true
	case "named":
		o.Named = rest + " "
	case "tries":
		o.Tries = true
	case "poses":
		o.Value, o.Poses = true, rest
		if rest == "" {
			o.Poses = PosesAs
		}
	case "signs-in":
		o.SignsIn = true
	case "module":
		o.Value, o.Module = true, rest+" "
	case "prints":
		o.Prints = rest
	default:
		return o.fileDirective(word, rest)
	}
	return true
}

func (o *Option) effectOrWords(part string) error {
	if adds, ok := strings.CutPrefix(part, "+"); ok {
		w, err := parseWords(strings.Fields(adds))
		o.Adds.Merge(w)
		return err
	}
	e, err := parseEffect(part)
	o.Impacts = append(o.Impacts, e)
	return err
}

func parseEffects(texts []string) ([]Effect, error) {
	out := make([]Effect, 0, len(texts))
	for _, text := range texts {
		e, err := parseEffect(text)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// parseEffect reads "kind [target] [words]": "delete operands irreversible", "network first:host upload".
func parseEffect(text string) (Effect, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || !slices.Contains(interlock.ImpactKinds(), interlock.ImpactKind(fields[0])) {
		return Effect{}, fmt.Errorf("%q does not begin with an impact kind", text)
	}
	e := Effect{Kind: interlock.ImpactKind(fields[0])}
	fields = fields[1:]
	if len(fields) > 0 && e.takeTarget(fields[0]) {
		fields = fields[1:]
	}
	var err error
	e.Words, err = parseWords(fields)
	return e, err
}

func (e *Effect) takeTarget(word string) bool {
	if fixed, ok := strings.CutPrefix(word, "="); ok {
		e.Fixed, e.What = fixed, "name"
		return true
	}
	if fixed, ok := strings.CutPrefix(word, "path="); ok {
		e.Fixed, e.What = fixed, "path"
		return true
	}
	if flag, ok := strings.CutPrefix(word, "@"); ok {
		e.Target, e.What = "flag", "path"
		flag, e.Alt, _ = strings.Cut(flag, "|")
		e.Flag, _, _ = strings.Cut(flag, ".")
		if _, what, ok := strings.Cut(flag, "."); ok {
			e.What = what
		}
		return slices.Contains(targetKinds(), e.What) && (e.Alt == "" || e.Alt == "cwd")
	}
	target, alt, _ := strings.Cut(word, "|")
	target, what, _ := strings.Cut(target, ".")
	if !slices.Contains([]string{"operands", "first", "second", "last", "rest", "init", "value", "cwd"}, target) {
		return false
	}
	if what == "" {
		what = "path"
	}
	e.Target, e.Alt, e.What = target, alt, what
	return slices.Contains(targetKinds(), what) && (alt == "" || alt == "cwd")
}

// targetKinds lists what an operand or value may be.
func targetKinds() []string {
	return []string{"path", "entries", "folder", "host", "url", "name", "data", "base", "local", "remote", "rev", "address",
		"clone", "landed", "site", "pair", "registry", "image"}
}

func parseWords(fields []string) (Words, error) {
	var w Words
	for _, f := range fields {
		switch {
		case slices.Contains(interlock.Reaches(), interlock.Reach(f)):
			w.Reach = interlock.Reach(f)
		case slices.Contains(interlock.Reversibilities(), interlock.Reversibility(f)):
			w.Reversibility = interlock.Reversibility(f)
		case slices.Contains(interlock.Confidences(), interlock.Confidence(f)):
			w.Confidence = interlock.Confidence(f)
		case slices.Contains(traitNames(), f):
			w.Traits = append(w.Traits, f)
		default:
			return w, fmt.Errorf("%q is no reach, reversibility, confidence or trait", f)
		}
	}
	return w, nil
}

// traitNames lists the traits data may name.
func traitNames() []string {
	return []string{fact.TraitUnparsable, fact.TraitDynamic, fact.TraitGlob, fact.TraitWrapper, fact.TraitRecursive,
		fact.TraitForce, fact.TraitOverwrite,
		fact.TraitAppend, fact.TraitBulk, fact.TraitDryRun, fact.TraitElevated, fact.TraitRemote, fact.TraitObfuscated,
		fact.TraitDecoded, fact.TraitInline,
		fact.TraitBackground, fact.TraitBomb, fact.TraitRoot, fact.TraitDevice, fact.TraitSecret, fact.TraitPersonal,
		fact.TraitEnvironment, fact.TraitHistory, fact.TraitUncommitted, fact.TraitImpersonation,
		fact.TraitStartup, fact.TraitAgentConfig, fact.TraitCI, fact.TraitLog, fact.TraitDefence, fact.TraitAccount,
		fact.TraitBoot, fact.TraitBackup,
		fact.TraitDatabase, fact.TraitInfra, fact.TraitPackage, fact.TraitSelf, fact.TraitDownload, fact.TraitUpload,
		fact.TraitDownloadRun, fact.TraitFetchedRun, fact.TraitForeign, fact.TraitRedirected, fact.TraitSecretSend,
		fact.TraitReverseShell, fact.TraitListen, fact.TraitMetadata, fact.TraitPublish, fact.TraitForward, fact.TraitScan,
		fact.TraitWrittenRun, fact.TraitRecon, fact.TraitPassword,
		fact.TraitInjection, fact.TraitMalice, fact.TraitUnsupported, fact.TraitOutside, fact.TraitClimbing, fact.TraitContent,
		fact.TraitRepeated, fact.TraitHooked, fact.TraitEncrypted, fact.TraitMoved, fact.TraitAttached, fact.TraitUnverified,
		fact.TraitBreaking}
}
