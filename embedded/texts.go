package embedded

import (
	"context"
	"strings"
	"sync"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/rpc"
	spoken "interlock/internal/telling"
	"interlock/rules"
)

// memoryTerms are what agents may have kept. Where the rulesets can't be read there is none, and nothing is kept.
func memoryTerms(m config.Memory) core.MemoryTerms {
	terms := core.MemoryTerms{Enabled: m.Enabled, Shared: m.Shared, TTL: m.Lives(), Most: m.Most()}
	if m.Enabled {
		terms.Kept, terms.Shown = shipped().Named("mace-stage1"), shipped().Named("results")
	}
	return terms
}

// A Passing is a text on its way: whose it is, which way it goes, and whether it is about to be kept.
type Passing struct {
	Requester interlock.Requester
	Where     string // e.g. "result of a server"
	About     string // the decision's event that it came of; empty: none
	Durable   bool
	Runs      [][]int // the texts that are read one behind the other, by their indices
	Before    int     // so many of the texts went on before, and are there because of what reaches over from them
}

// A Passed is what the classifier says of texts on their way, and what of them goes on.
type Passed struct {
	classify.Result
	Texts      []string // in their order, without those that went on before
	Unreviewed string   // a sentence that says why nobody reviews what is left out until somebody has
}

// Screen classifies the texts of one thing, such as a result, under a ruleset by its name, and records what became of them. A text that
// is blocked is none of those that go on. An error says that nothing may go on, and holds none of the text. Under a name that is not
// known everything is blocked, and that is a failure of integrity (MACE 3.1).
func (b *Backend) Screen(ctx context.Context, ruleset string, way Passing, texts ...string) (Passed, error) {
	set := b.Texts().Named(ruleset)
	s := messages.Screening{Requester: way.Requester, Where: way.Where, About: way.About, Durable: way.Durable}
	all := Passed{Result: classify.Result{Classification: classify.Pass}}
	if set != nil {
		all.Ruleset = set.ID
	}
	for n, one := range classify.Texts(set, texts, way.Runs...) {
		if n < way.Before {
			continue
		}
		all.Texts = append(all.Texts, one.Shown)
		s.Take(texts[n], one)
		if one.Classification.Stricter(all.Classification) {
			all.Result = one
		}
		all.Found = s.Found
	}
	if all.Classification == classify.Pass {
		return all, nil
	}
	s.Text = strings.Join(texts[way.Before:], "\n")
	done, err := b.Screened(ctx, s)
	if err != nil {
		return Passed{Result: all.Result}, err
	}
	if why := done.Unreviewed; why != "" {
		all.Unreviewed = strings.ToUpper(why[:1]) + why[1:] + "."
	}
	return all, nil
}

// shipped are the rulesets that come with the program, for who has no backend yet.
var shipped = sync.OnceValue(func() *classify.Library { return classify.NewLibrary(rules.Defaults()["safety.yaml"]) })

// Plain is a text as people may be told of it under a ruleset by its name, where nothing of it is recorded.
func Plain(ruleset, text string) string { return classify.Text(shipped().Named(ruleset), text).Shown }

// resultOfTool is where the texts are that a hook hands on.
const resultOfTool = "result of a tool"

// mostLooked bounds a result that is looked at here, in bytes; more of one does not come from a hook.
const mostLooked = 256 << 10

// notLooked takes the place of a result that is longer.
const notLooked = "This result is longer than Interlock looks at, so it was left out."

// ScreenResult says what of a tool's result an agent behind a hook may be shown, under the ruleset that the settings name, and records
// what was taken out. The result is JSON or text, and what is shown is the same. Without a message it may be shown as it is.
func (b *Backend) ScreenResult(ctx context.Context, p interlock.Proposal, result string) (shown, message string, err error) {
	if b.Settings.HookTexts.Off() {
		return "", "", nil
	}
	if len(result) > mostLooked {
		s := messages.Screening{Requester: p.Requester, Where: resultOfTool, Text: result,
			Classification: string(classify.Refuse), Rule: "text.too-long", Why: "it is longer than is looked at"}
		if set := b.Texts().Named(string(b.Settings.HookTexts)); set != nil {
			s.Ruleset = set.ID
		}
		_, err := b.Screened(ctx, s)
		return "", notLooked, err
	}
	value, quoted := rpc.Value([]byte(result)), false
	if value == nil {
		value, quoted = rpc.AppendString(nil, result), true
	}
	said := spoken.Read(value, spoken.Options{Speaks: classify.Speaks})
	texts, runs := said.Texts()
	way := Passing{Requester: p.Requester, Where: resultOfTool, Runs: runs}
	all, err := b.Screen(ctx, string(b.Settings.HookTexts), way, texts...)
	if err != nil || all.Message == "" {
		return "", "", err
	}
	if all.Classification == classify.Refuse { // of the same form, and the refusal instead of its first text
		clear(all.Texts)
		all.Texts[0] = classify.BlockMessage
	}
	if message = all.Message; all.Unreviewed != "" {
		message += " " + all.Unreviewed
	}
	out, whole := said.Show(all.Texts)
	switch {
	case !whole:
		return "", message, nil
	case quoted:
		return rpc.Unquoted(out), message, nil
	}
	return string(out), message, nil
}
