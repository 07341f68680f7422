package inject

import (
	"strings"
	"sync"
)

// Three things that together turn a model into somebody who obeys nobody: it is made to be somebody, what holds it back is
// taken away, and it is spoken to as what it is. One alone is a story, a policy or an article about models.
var (
	personaMarks = []string{"from now on", "you are now", "you are going to", "you will now", "act as", "acting as",
		"pretend to be", "pretend you", "pretending to be",
		"roleplay", "role play", "role-play", "simulate", "in the role of", "respond as", "answer as", "reply as", "responses as",
		"stay in character", "in character",
		"break character", "play the role", "named", "personality", "take on the persona", "take the persona",
		"you are no longer", "henceforth", "you will be called",
		"from this point", "from this moment", "two responses", "two ways", "two different ways", "two distinct",
		"a version of yourself", "is a chatbot", "fictional"}
	unboundMarks = []string{"no restrictions", "without restrictions", "any restrictions",
		"have to abide by", "have to follow any", "all restrictions", "no rules",
		"without rules", "any rules", "unfiltered",
		"uncensored", "amoral", "immoral", "no filter", "without filter", "any filter", "content filter",
		"restrictions and filters", "without any regard", "without regard", "does not care about", "doesn't care about",
		"never refuse", "cannot refuse", "can't refuse", "doesn't refuse", "broken free", "freed from", "not restricted",
		"unrestricted", "no limitations", "without limitations",
		"no limits", "without any warning", "never send any warning", "disregards all", "ignores any and all",
		"ethical guidelines", "ethical or legal", "no ethical", "no moral", "hates being ethical",
		"do not decline", "don't decline", "never decline", "not bound by", "isn't bound by", "is not limited by",
		"openai policy", "openai policies", "openai's policy", "openai's policies", "content policy", "content policies",
		"regardless of legality", "regardless of if it", "regardless of its legal", "everything is legal", "never say no",
		"never says no", "say anything", "do anything", "no censorship", "override the restrictions",
		"without moral", "bypass openai", "topic restrictions", "free of all", "free from all rules", "any ethical",
		"ethical rules", "never apologize", "i'm sorry, but", "as an ai language model",
		"jailbroken", "jailbreak", "god mode", "developer mode"}
	modelMarks = []string{"gpt", "language model", "ai model", "openai", "chatbot", " ai ", " ai,", " ai.", "an ai", "the ai",
		" llm", "assistant", "anthropic", "my prompt", "[prompt]", "your responses", "your outputs",
		"all my questions", "every prompt"}
)

// unbound reports a text that gives its reader a persona which nothing holds back.
func (f *markFinds) unbound() bool {
	return f.count[modelList] >= 1 && f.count[personaList] >= 1 && f.count[unboundList] >= 2
}

// foreignOrders are the same order in other languages: the stem of the verb, and of what it takes away.
var foreignOrders = [][2]string{
	{"ignora", "instrucciones"}, {"ignore", "instrucciones"}, {"olvida", "instrucciones"}, {"ignor", "instruções"},
	{"esque", "instruções"}, {"ignor", "istruzioni"},
	{"dimentica", "istruzioni"}, {"ignor", "instructions précédentes"}, {"oubli", "instructions"}, {"ignorier", "anweisungen"},
	{"vergiss", "anweisungen"}, {"missachte", "anweisungen"},
	{"negeer", "instructies"}, {"ignoruj", "polecenia"}, {"ignoruj", "instrukcje"}, {"игнорир", "инструкци"},
	{"забудь", "инструкци"}, {"忽略", "指令"}, {"忽略", "指示"}, {"无视", "指令"}, {"忘记", "指令"},
	{"無視", "指示"}, {"無視", "命令"}, {"무시", "지시"}, {"무시", "명령"}, {"تجاهل", "التعليمات"}, {"αγνοήστε", "οδηγίες"},
	{"अनदेखा", "निर्देश"}, {"नज़रअंदाज़", "निर्देश"}, {"abaikan", "instruksi"},
	{"talimatları", "yok say"}, {"önceki talimat", "unut"},
}

// orderedAbroad reports such an order: both stems close together.
func orderedAbroad(low string) bool {
	for _, pair := range foreignOrders {
		at := strings.Index(low, pair[0])
		if at < 0 {
			continue
		}
		if near := low[max(0, at-96):min(len(low), at+96)]; strings.Contains(near, pair[1]) {
			return true
		}
	}
	return false
}

// The lists of marks that are looked for together.
const (
	orderList = iota
	personaList
	unboundList
	modelList
	lists
)

// A textMark is one mark, the list it is in, and its number among all.
type textMark struct {
	text   string
	list   uint8
	number uint16
}

// A markTable holds all marks by their first byte, and which bytes come second. It is made when text is first read and never changes.
type markTable struct {
	by     [256][]textMark
	second [256][4]uint64
}

var marksByFirst = sync.OnceValue(func() *markTable {
	out := new(markTable)
	number := 0
	for list, marks := range [lists][]string{orderList: orderMarks, personaList: personaMarks, unboundList: unboundMarks,
		modelList: modelMarks} {
		for _, mark := range marks {
			out.by[mark[0]] = append(out.by[mark[0]], textMark{mark, uint8(list), uint16(number)})
			out.second[mark[0]][mark[1]>>6] |= 1 << (mark[1] & 63)
			number++
		}
	}
	return out
})

// markFinds counts the different marks of each list that a text holds.
type markFinds struct {
	count [lists]int
	seen  [512]bool
}

// findMarks looks for all marks in one pass over text in lower case.
func findMarks(low string) (f markFinds) {
	table := marksByFirst()
	for i := 0; i+1 < len(low); i++ {
		next := low[i+1]
		if table.second[low[i]][next>>6]>>(next&63)&1 == 0 {
			continue
		}
		for _, mark := range table.by[low[i]] {
			if next == mark.text[1] && !f.seen[mark.number] && strings.HasPrefix(low[i:], mark.text) {
				f.seen[mark.number] = true
				f.count[mark.list]++
			}
		}
	}
	return f
}
