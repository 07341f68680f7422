package embedded

import (
	"context"
	"strings"

	"interlock"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
)

// A Passing is a text on its way: whose it is, which way it goes, and whether it is about to be kept.
type Passing struct {
	Requester interlock.Requester
	Where     string // e.g. "result of a server"
	About     string // the decision's event that it came of; empty: none
	Durable   bool
}

// Screen classifies the texts of one thing, such as a result, under a ruleset by its name, and records what became of them. Texts come
// back in their order, as they may go on; a text that is blocked is none of them. An error says that nothing may go on, and holds none
// of the text. Under a name that is not known everything is blocked, and that is a failure of integrity (MACE 3.1).
func (b *Backend) Screen(ctx context.Context, ruleset string, way Passing, texts ...string) (all classify.Result, shown []string, err error) {
	set := b.Texts().Named(ruleset)
	s := messages.Screening{Requester: way.Requester, Where: way.Where, About: way.About, Durable: way.Durable}
	all = classify.Result{Classification: classify.Pass}
	if set != nil {
		all.Ruleset = set.ID
	}
	for _, text := range texts {
		one := classify.Text(set, text)
		shown = append(shown, one.Shown)
		s.Take(text, one)
		if one.Classification.Stricter(all.Classification) {
			all = one
		}
		all.Found = s.Found
	}
	if all.Classification == classify.Pass {
		return all, shown, nil
	}
	s.Text = strings.Join(texts, "\n")
	if _, err := b.Screened(ctx, s); err != nil {
		return all, nil, err
	}
	return all, shown, nil
}
