package gate

import (
	"strconv"
	"strings"
	"unicode"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

const (
	maxObject  = 56  // characters of one object's name in a reason
	maxObjects = 3   // objects that are named one by one
	maxEffects = 2   // effects that are told
	maxTold    = 290 // characters of all that is told beside a rule's own sentence
)

// Told adds to what each finding says in general what it is about in this action: what is done to what, and by what. The names
// come from the analysed impacts, shortened and without secrets, so that a person who reads nothing else knows what is asked.
func Told(gates Table, findings []interlock.Finding, action interlock.Action, analysis impact.Analysis) []interlock.Finding {
	for n := range findings {
		f := &findings[n]
		if f.Verdict == interlock.Allow || f.Verdict == interlock.Halt && len(f.Impacts) == 0 || f.Reason == "" {
			continue
		}
		told := effects(f.Impacts, analysis.Impacts)
		part := gates.Of(f.Gate).Part
		if part == Input && action.Input != "" {
			told = shown(action.Input)
		}
		if told == "" && part == Operation {
			told = operation(action, analysis)
		}
		if told != "" {
			f.Reason += ": " + told
		}
	}
	return findings
}

// An effectTold is what one thing does to several.
type effectTold struct {
	verb, via, where string
	objects          []string
	more             int
}

// effects tells the first few of the impacts in plain words, those alike together.
func effects(at []int, impacts []interlock.Impact) string {
	var told []effectTold
	others := 0
	for _, n := range at {
		if n < 0 || n >= len(impacts) {
			continue
		}
		i := &impacts[n]
		e := effectTold{verb: verbOf(i), via: shown(i.Via), where: whereabouts(i)}
		object := objectOf(i)
		if i.Reach == interlock.ReachSelf && object == e.via {
			e.via = "" // Interlock is what is changed here, not what changes something
		}
		k := 0
		for k < len(told) && (told[k].verb != e.verb || told[k].via != e.via || told[k].where != e.where) {
			k++
		}
		if k == len(told) {
			if len(told) == maxEffects {
				others++
				continue
			}
			told = append(told, e)
		}
		told[k].add(object)
	}
	var parts []string
	for k := range told {
		parts = append(parts, told[k].say())
	}
	if others > 0 && len(parts) > 0 {
		parts = append(parts, "and more")
	}
	return shorten(strings.Join(parts, "; "), maxTold)
}

func (e *effectTold) add(object string) {
	for _, have := range e.objects {
		if have == object {
			return
		}
	}
	if len(e.objects) == maxObjects {
		e.more++
		return
	}
	e.objects = append(e.objects, object)
}

func (e *effectTold) say() string {
	asked := e.via == "hint" || strings.HasPrefix(e.via, "hint ")
	if len(e.objects) == 1 && e.more == 0 && isProgram(e.objects[0], e.via) {
		if asked {
			return strings.TrimSuffix(withoutObject(e.verb), " with") + " as the text asks" + e.where
		}
		if bare := withoutObject(e.verb); bare != e.verb {
			return bare + " with " + e.via + e.where
		}
	}
	if asked { // what is done by nobody but the one who reads the text
		e.via = ""
	}
	text := e.verb + " " + strings.Join(e.objects, ", ")
	if e.more > 0 {
		text += " and " + strconv.Itoa(e.more) + " more"
	}
	if named := len(e.objects) == 1 && e.objects[0] == e.via; e.via != "" && !named && isWord(e.via) {
		text += " (" + e.via + ")"
	}
	return text + e.where
}

// isProgram reports whether what an effect is said to be on is only the program that has it: git push connects to git push.
func isProgram(object, via string) bool {
	return object != "" && (object == via || strings.HasPrefix(via, object+" "))
}

// withoutObject is a verb for an effect where only the program is known, so that "with" may follow.
func withoutObject(verb string) string {
	switch {
	case verb == "deletes all of", verb == "reads", verb == "changes", verb == "starts or ends", verb == "writes",
		verb == "overwrites", verb == "moves", verb == "adds to", verb == "deletes":
		first, _, _ := strings.Cut(verb, " all of")
		return strings.TrimSuffix(first, " to") + " something"
	case strings.HasSuffix(verb, " the secret"):
		return strings.TrimSuffix(verb, "the secret") + "a secret"
	case verb == "changes the rights of":
		return "changes rights"
	case verb == "runs", verb == "probes", verb == "fills", strings.HasSuffix(verb, " by"), strings.HasSuffix(verb, " with"):
		return verb
	}
	for _, joint := range [...]string{" to", " from", " for", " on"} {
		if bare, found := strings.CutSuffix(verb, joint); found {
			return bare
		}
	}
	return verb
}

// isWord reports whether what does something has a name, as the operators of a shell have not.
func isWord(via string) bool {
	return strings.ContainsFunc(via, unicode.IsLetter)
}

// plainVerbs are what impacts do where the kind says it all.
var plainVerbs = map[interlock.ImpactKind]string{
	interlock.ImpactRead:      "reads",
	interlock.ImpactExecute:   "runs",
	interlock.ImpactPrivilege: "changes the rights of",
	interlock.ImpactPersist:   "has something run later by",
	interlock.ImpactConfigure: "changes",
	interlock.ImpactSpawn:     "starts or ends",
}

// verbOf is what an impact does.
func verbOf(i *interlock.Impact) string {
	if !understood(i) {
		return "does something unknown with"
	}
	switch i.Kind {
	case interlock.ImpactSpawn:
		if i.Has(fact.TraitFilling) {
			return "fills"
		}
	case interlock.ImpactWrite:
		return writes(i)
	case interlock.ImpactDelete:
		if i.Has(fact.TraitRecursive) {
			return "deletes all of"
		}
		return "deletes"
	case interlock.ImpactNetwork:
		return connects(i)
	case interlock.ImpactMessage:
		if i.Has(fact.TraitPublish) {
			return "publishes with"
		}
		return "sends a message to"
	case interlock.ImpactSpend:
		return spends(i)
	case interlock.ImpactCredential:
		if i.Reversibility == interlock.Readonly {
			return "reads the secret"
		}
		return "changes the secret"
	}
	if verb, known := plainVerbs[i.Kind]; known {
		return verb
	}
	return "concerns"
}

// spends says how much money an impact commits.
func spends(i *interlock.Impact) string {
	minor, currency := i.Sum()
	if minor <= 0 {
		return "spends money on"
	}
	return "spends " + interlock.Money(minor, currency) + " on"
}

func writes(i *interlock.Impact) string {
	switch {
	case i.Has(fact.TraitMoved):
		return "moves"
	case i.Has(fact.TraitAppend):
		return "adds to"
	case i.Has(fact.TraitOverwrite):
		return "overwrites"
	}
	return "writes"
}

func connects(i *interlock.Impact) string {
	switch {
	case i.Has(fact.TraitSecretSend) || i.Has(fact.TraitUpload) && i.Has(fact.TraitSecret):
		return "sends a secret to"
	case i.Has(fact.TraitUpload):
		return "sends data to"
	case i.Has(fact.TraitListen):
		return "opens a port for"
	case i.Has(fact.TraitForward):
		return "tunnels to"
	case i.Has(fact.TraitScan):
		return "probes"
	case i.Has(fact.TraitDownload):
		return "fetches from"
	}
	return "connects to"
}

// objectOf names what an impact is about.
func objectOf(i *interlock.Impact) string {
	switch object := strings.TrimSuffix(shown(i.Target), ":"); {
	case object == "{stdin}":
		return "what its input names"
	case strings.HasSuffix(object, "/*?"):
		return "what lies below " + strings.TrimSuffix(object, "*?")
	case object != "":
		return object
	case i.Via != "":
		return shown(i.Via)
	}
	return "something not named"
}

// whereabouts says where an impact happens if its name may not say so.
func whereabouts(i *interlock.Impact) string {
	switch {
	case i.Reach == interlock.ReachProduction:
		return " in production"
	case i.Has(fact.TraitElevated):
		return " as another user"
	}
	return ""
}

// operation names the action where no impact is at fault: its tool, or the one thing it would run.
func operation(action interlock.Action, analysis impact.Analysis) string {
	switch {
	case action.Tool != "":
		return shown(action.Tool)
	case len(analysis.Texts) > 0:
		return shown(analysis.Texts[0].Value)
	}
	return ""
}

// fits reports whether a command that is suggested is one of the tool that does what is objected to; what another tool would
// do is no advice.
func fits(try string, at []int, analysis impact.Analysis) bool {
	program, _, _ := strings.Cut(try, " ")
	uses := func(command string) bool {
		first, _, _ := strings.Cut(command, " ")
		return first == program
	}
	for _, n := range at {
		if n >= 0 && n < len(analysis.Impacts) && uses(analysis.Impacts[n].Via) {
			return true
		}
	}
	for n := 0; n < len(analysis.Texts) && len(at) == 0; n++ {
		if uses(analysis.Texts[n].Value) {
			return true
		}
	}
	return false
}

// shown is a name as a reason may show it: one line of printable text, no secret in it, not long.
func shown(name string) string {
	cut := len(name) > 4*maxTold
	if cut {
		name = name[:4*maxTold]
	}
	name, _ = classify.Redact(name)
	if cut { // its end may be a piece of a secret that is not seen as one
		runes := []rune(name)
		name = string(runes[:min(len(runes), maxObject-1)]) + "…"
	}
	name = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	return shorten(name, maxObject)
}

// shorten leaves the beginning and the end of a text that is too long.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	end := most / 4
	return string(runes[:most-end-1]) + "…" + string(runes[len(runes)-end:])
}
