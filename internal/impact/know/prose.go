package know

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/lex"
	"interlock/internal/strictjson"
)

// proseData is rules/prose.yaml: the words by which prose is understood.
type proseData struct {
	Verbs      map[string][]string     `json:"verbs"`
	Phrases    map[string][]string     `json:"phrases"`
	Announcing []string                `json:"announcing"`
	Concealing []string                `json:"concealing"`
	Words      map[string][]string     `json:"words"`
	Attacks    []attackData            `json:"attacks"`
	Objects    map[string][]objectData `json:"objects"`
	Rights     []rightData             `json:"rights"`
	Plain      []plainData             `json:"plain"`
	Vague      map[string][]string     `json:"vague"`
}

type attackData struct {
	Trait string   `json:"trait"`
	Words []string `json:"words"`
}

type objectData struct {
	Words  []string           `json:"words"`
	When   []surroundingsData `json:"when,omitempty"`
	Spared bool               `json:"spared,omitempty"`
	Both   bool               `json:"named-with-before,omitempty"`
	Reach  interlock.Reach    `json:"reach,omitempty"`
	Trait  string             `json:"trait,omitempty"`
}

type surroundingsData struct {
	Wide            bool     `json:"wide,omitempty"`
	EveryFile       bool     `json:"every-file,omitempty"`
	Before          []string `json:"before,omitempty"`
	Next            []string `json:"next,omitempty"`
	Clause          []string `json:"clause,omitempty"`
	NotBefore       []string `json:"not-before,omitempty"`
	NotSecondBefore []string `json:"not-second-before,omitempty"`
	NotNext         []string `json:"not-next,omitempty"`
	NotClause       []string `json:"not-clause,omitempty"`
}

type rightData struct {
	Verbs  []string   `json:"verbs"`
	Says   [][]string `json:"says"`
	Rest   [][]string `json:"rest,omitempty"`
	Impact string     `json:"impact"` // kind, reach, reversibility
	Target string     `json:"target,omitempty"`
	Traits []string   `json:"traits"`
}

// A WordList names one of the lists under words in rules/prose.yaml, where each is explained.
type WordList string

// The lists that are asked for.
const (
	Secret         WordList = "secret"
	KeyKinds       WordList = "key-kinds"
	Wide           WordList = "wide"
	Defence        WordList = "defence"
	Dotfile        WordList = "dotfile"
	HomeDotfile    WordList = "home-dotfile"
	PlainCommand   WordList = "plain-command"
	Subcommanded   WordList = "subcommanded"
	Determiner     WordList = "determiner"
	Denying        WordList = "denying"
	Discussing     WordList = "discussing"
	ProgramOrder   WordList = "program-order"
	Program        WordList = "program"
	Run            WordList = "run"
	Part           WordList = "part"
	Wholesale      WordList = "wholesale"
	Picking        WordList = "picking"
	GoingOn        WordList = "going-on"
	CommandEnd     WordList = "command-end"
	ClauseEnd      WordList = "clause-end"
	Production     WordList = "production"
	ProductionPart WordList = "production-part"
	LivePart       WordList = "live-part"
	Outward        WordList = "outward"
	Inward         WordList = "inward"
	Currency       WordList = "currency"
	Money          WordList = "money"
	SecretStore    WordList = "secret-store"
	Making         WordList = "making"
	Unmistakable   WordList = "unmistakable"
	Guarding       WordList = "guarding"
	Evading        WordList = "evading"
)

type plainData struct {
	Verbs      []string   `json:"verbs"`
	Says       [][]string `json:"says,omitempty"`
	Amount     bool       `json:"amount,omitempty"`
	Production bool       `json:"production,omitempty"`
	Unless     []string   `json:"unless,omitempty"`
	Impact     string     `json:"impact"` // kind, reach, reversibility
	Traits     []string   `json:"traits,omitempty"`
}

func wordLists() []WordList {
	return []WordList{Secret, KeyKinds, Wide, Defence, Dotfile, HomeDotfile, PlainCommand, Subcommanded, Determiner,
		Denying, Discussing,
		ProgramOrder, Program, Run, Part, Wholesale, Picking, GoingOn, CommandEnd, ClauseEnd, Production,
		ProductionPart, LivePart,
		Outward, Inward, Currency, Money, SecretStore, Making, Unmistakable, Guarding, Evading}
}

// A ProseTable is proseData turned round for look-up by word.
type ProseTable struct {
	Verbs      map[string]string // what a verb does
	Phrases    map[string]string // the one verb that two words mean
	Announcing []string          // how somebody begins who says what he does next, with the space behind it
	Concealing []string
	Attacks    []Attack
	Losses     []ObjectRule // what is not got back once it is deleted
	Defences   []ObjectRule // what protects a machine
	Secrets    []ObjectRule // what opens something, or is about people
	Rights     []RightRule
	Plain      []PlainRule     // what goes outward, costs money or gives rights, where a sentence says it in so many words
	Doing      map[string]bool // verbs that say nothing without an object
	Nothing    map[string]bool // words that name no object
	words      map[WordList]map[string]bool
}

// Is reports whether a word is in a list.
func (t *ProseTable) Is(list WordList, word string) bool { return t.words[list][word] }

// Any reports whether one of the words is in a list.
func (t *ProseTable) Any(list WordList, words []string) bool {
	set := t.words[list]
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}

// An Attack is words that name something nobody makes for a harmless end, and the trait that fits it.
type Attack struct{ Words, Trait string }

// An ObjectRule says what a word is in the surroundings of one of its conditions, or in any if it has none.
type ObjectRule struct {
	Words  map[string]bool
	When   []Surroundings
	Spared bool // it is nothing, and no other word is looked at
	Both   bool // the word before it is part of its name
	Reach  interlock.Reach
	Trait  string
}

// Surroundings are what must hold around a word. Empty lists demand nothing.
type Surroundings struct {
	Wide      bool // a word for all there is comes at or before it
	EveryFile bool // the words before it mean every file and not all of a sort

	Before, Next, Clause                           []string // one of them must stand there
	NotBefore, NotSecondBefore, NotNext, NotClause []string // none of them may
}

// A RightRule is a right that is handed out: what the verb does, what must be said, and the impact.
type RightRule struct {
	Verbs         []string
	Says          [][]string // phrases with a space on both sides
	Rest          [][]string
	Kind          interlock.ImpactKind
	Reach         interlock.Reach
	Reversibility interlock.Reversibility
	Target        string
	Traits        []string
}

// A PlainRule is what verbs say of a clause that holds one phrase of each list, and an amount of money or what runs for others
// where it wants that.
type PlainRule struct {
	Verbs         map[string]bool
	Says          [][]string // phrases with a space on both sides
	Amount        bool
	Production    bool
	Unless        []string
	Kind          interlock.ImpactKind
	Reach         interlock.Reach
	Reversibility interlock.Reversibility
	Traits        []string
}

// lazyProse is the table of prose, decoded when prose is first read.
type lazyProse struct {
	raw  []byte
	once sync.Once
	done *ProseTable
	err  error
}

// Prose returns the words by which prose is understood; without a table, none are.
func (k *Knowledge) Prose() *ProseTable {
	if k == nil || k.prose == nil {
		return &ProseTable{}
	}
	k.prose.once.Do(func() {
		if k.prose.raw != nil {
			k.prose.done, k.prose.err = parseProse(k.prose.raw)
		}
		if k.prose.done == nil {
			k.prose.done = &ProseTable{}
		}
	})
	return k.prose.done
}

// parseProse reads rules/prose.yaml, converted to JSON. Every list that is asked for must be there, and no other.
func parseProse(document []byte) (*ProseTable, error) {
	var data proseData
	if err := strictjson.Decode(document, &data); err != nil {
		return nil, err
	}
	t := &ProseTable{Concealing: data.Concealing, words: make(map[WordList]map[string]bool, len(data.Words))}
	var err error
	if t.Verbs, err = byWord("/verbs", data.Verbs); err != nil {
		return nil, err
	}
	if t.Phrases, err = byWord("/phrases", data.Phrases); err != nil {
		return nil, err
	}
	for _, words := range data.Announcing {
		t.Announcing = append(t.Announcing, words+" ")
	}
	for _, list := range wordLists() {
		if len(data.Words[string(list)]) == 0 {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/words/"+string(list), "is missing")
		}
		t.words[list] = lex.Lookup(data.Words[string(list)])
	}
	for _, name := range lex.SortedNames(data.Words) {
		if t.words[WordList(name)] == nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/words/"+name, "is no list that anything asks for")
		}
	}
	for _, group := range data.Attacks {
		if !slices.Contains(traitNames(), group.Trait) {
			return nil, interlock.Errorf(interlock.CodeInvalid, "/attacks", "%q is no trait", group.Trait)
		}
		for _, words := range group.Words {
			t.Attacks = append(t.Attacks, Attack{words, group.Trait})
		}
	}
	if err := t.parseObjects(data.Objects); err != nil {
		return nil, err
	}
	t.Doing, t.Nothing = lex.Lookup(data.Vague["doing"]), lex.Lookup(data.Vague["nothing"])
	if err := t.parseRights(data.Rights); err != nil {
		return nil, err
	}
	return t, t.parsePlain(data.Plain)
}

// byWord turns lists round. A word may stand in one list only, so that what it means does not depend on the order of a map.
func byWord(pointer string, lists map[string][]string) (map[string]string, error) {
	out := make(map[string]string, len(lists)*8)
	for _, list := range lex.SortedNames(lists) {
		for _, word := range lists[list] {
			if have, taken := out[word]; taken && have != list {
				return nil, interlock.Errorf(interlock.CodeInvalid, pointer+"/"+list, "%q is already listed under %s", word, have)
			}
			out[word] = list
		}
	}
	return out, nil
}

func (t *ProseTable) parseObjects(objects map[string][]objectData) error {
	into := map[string]*[]ObjectRule{"losses": &t.Losses, "defences": &t.Defences, "secrets": &t.Secrets}
	for _, name := range lex.SortedNames(objects) {
		rules := into[name]
		if rules == nil {
			return interlock.Errorf(interlock.CodeInvalid, "/objects/"+name, "is no table that anything asks for")
		}
		for i, d := range objects[name] {
			if len(d.Words) == 0 || d.Reach != "" && !knownReach(d.Reach) || d.Trait != "" &&
				!slices.Contains(traitNames(), d.Trait) {
				return interlock.Errorf(interlock.CodeInvalid, "/objects/"+name,
					"rule %d needs words, and a known reach and trait if it has them", i+1)
			}
			rule := ObjectRule{Words: lex.Lookup(d.Words), Spared: d.Spared, Both: d.Both, Reach: d.Reach, Trait: d.Trait}
			for _, w := range d.When {
				rule.When = append(rule.When, Surroundings(w))
			}
			*rules = append(*rules, rule)
		}
	}
	return nil
}

func (t *ProseTable) parseRights(rights []rightData) error {
	for i, d := range rights {
		fields := strings.Fields(d.Impact)
		if len(fields) != 3 || !knownKind(fields[0]) || !knownReach(interlock.Reach(fields[1])) || len(d.Verbs) == 0 ||
			len(d.Says) == 0 {
			return interlock.Errorf(interlock.CodeInvalid, "/rights",
				"rule %d needs verbs, what is said, and an impact of kind, reach and reversibility", i+1)
		}
		rule := RightRule{Verbs: d.Verbs, Rest: d.Rest, Kind: interlock.ImpactKind(fields[0]), Reach: interlock.Reach(fields[1]),
			Reversibility: interlock.Reversibility(fields[2]), Target: d.Target, Traits: d.Traits}
		rule.Says = spaced(d.Says)
		t.Rights = append(t.Rights, rule)
	}
	return nil
}

// spaced puts a space on both sides of every phrase.
func spaced(lists [][]string) (out [][]string) {
	for _, phrases := range lists {
		said := make([]string, len(phrases))
		for n, phrase := range phrases {
			said[n] = fmt.Sprintf(" %s ", phrase)
		}
		out = append(out, said)
	}
	return out
}

func (t *ProseTable) parsePlain(rules []plainData) error {
	for i, d := range rules {
		fields := strings.Fields(d.Impact)
		if len(fields) != 3 || !knownKind(fields[0]) || !knownReach(interlock.Reach(fields[1])) || len(d.Verbs) == 0 ||
			len(d.Says) == 0 && !d.Amount && !d.Production {
			return interlock.Errorf(interlock.CodeInvalid, "/plain",
				"rule %d needs verbs, what is said of them, and an impact of kind, reach and reversibility", i+1)
		}
		t.Plain = append(t.Plain, PlainRule{Verbs: lex.Lookup(d.Verbs), Says: spaced(d.Says), Amount: d.Amount,
			Production: d.Production, Unless: d.Unless, Kind: interlock.ImpactKind(fields[0]), Reach: interlock.Reach(fields[1]),
			Reversibility: interlock.Reversibility(fields[2]), Traits: d.Traits})
	}
	return nil
}
