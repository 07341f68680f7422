package impact

import (
	"strings"

	"interlock"
	"interlock/internal/secret"
)

// text analyses content that is not an action: it can hold secrets, and it can hold instructions meant for the agent that
// reads it. Both are only noted; what is done about them is for rules to say.
func (s *scan) text(in string) {
	if !s.spend(len(in)/8 + 1) {
		s.unknown("text", TraitWork)
		return
	}
	s.add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "text"})
	for n, span := range secret.Find(in) {
		if n == 16 {
			break
		}
		s.add(interlock.Impact{Kind: interlock.ImpactCredential, Target: span.Kind, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly,
			Via: "text", Traits: []string{TraitSecret}})
	}
	if injected(in) {
		s.add(interlock.Impact{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace, Reversibility: interlock.Readonly, Via: "text",
			Confidence: interlock.Inferred, Traits: []string{TraitInjection}})
	}
}

// injectionMarks are things that have no business in content: the frames of a conversation, and phrases that address the
// reader as a machine.
var injectionMarks = []string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|endoftext|>", "<<sys>>", "[/inst]", "### instruction:", "### system:", "<system>", "</system>",
	"[system message]", "[system](", "system override", "new system prompt", "end of system prompt", "begin admin session", "developer mode enabled",
	"do anything now", "you are now dan", "dan mode", "jailbroken", "jailbreak mode", "god mode", "without any restrictions or filters",
	"stay in character at all times", "do not mention this instruction", "do not tell the user", "don't tell the user", "without informing the user",
	"without the user's knowledge", "do not reveal these instructions", "you must obey", "your new task is", "your new instructions are",
	"important!!!", "<important>", "<information>\n\nthis is an important message from me", "as your developer i", "you have been compromised",
	"enter developer mode", "act as an unrestricted", "act as an unfiltered", "no ethical guidelines", "has no content policy", "free from all restrictions",
}

// Words of the sentence that takes instructions away: a verb, then what there was before, then what it was.
var (
	dismissWords = set([]string{"ignore", "disregard", "forget", "override", "bypass", "neglect", "overlook", "discard", "abandon", "skip"})
	priorWords   = set([]string{"previous", "prior", "above", "earlier", "preceding", "all", "any", "foregoing", "initial", "original", "your", "system", "former", "past"})
	orderWords   = set([]string{"instructions", "instruction", "prompt", "prompts", "rules", "directions", "guidelines", "commands", "directives", "context",
		"programming", "constraints", "restrictions", "training", "orders", "guardrails", "policies"})
	revealWords = set([]string{"reveal", "print", "show", "repeat", "output", "leak", "display", "share", "disclose", "tell", "give", "dump", "expose", "write"})
)

// injected reports whether text is shaped like instructions smuggled to a model. Single words prove nothing: people write
// about ignoring things all day.
func injected(in string) bool {
	if hiddenTags(in) {
		return true
	}
	low := strings.ToLower(in)
	for _, mark := range injectionMarks {
		if strings.Contains(low, mark) {
			return true
		}
	}
	words := plainWords(low)
	for i, word := range words {
		switch {
		case dismissWords[word]:
			if follows(words[i+1:min(len(words), i+8)], priorWords, orderWords) {
				return true
			}
		case revealWords[word]:
			rest := words[i+1 : min(len(words), i+7)]
			for k := 0; k+1 < len(rest); k++ {
				if (rest[k] == "system" || rest[k] == "initial" || rest[k] == "hidden" || rest[k] == "secret") && (rest[k+1] == "prompt" || rest[k+1] == "instructions") {
					return true
				}
			}
		}
	}
	return false
}

// follows reports whether a word of the first set is followed, at once or later, by one of the second.
func follows(words []string, first, second map[string]bool) bool {
	seen := false
	for _, w := range words {
		if seen && second[w] {
			return true
		}
		seen = seen || first[w]
	}
	return false
}

// hiddenTags reports whether text carries characters that only machines see, in a number that spells something.
func hiddenTags(in string) bool {
	tags, zero := 0, 0
	for _, r := range in {
		switch {
		case r >= 0xe0020 && r <= 0xe007e:
			tags++
		case r == 0x200b || r == 0x2060 || r == 0x2062 || r == 0x2063 || r == 0x2064:
			zero++
		}
	}
	return tags > 8 || zero > 24
}

func plainWords(low string) []string {
	return strings.FieldsFunc(low, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '\'' || r >= 0x80) })
}
