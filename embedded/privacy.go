package embedded

import (
	"context"

	"interlock"
	admissiongovernance "interlock/internal/admission/governance"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/internal/vault"
)

// redactor takes out of what is recorded what may not stand there: secrets, and personal data where the settings want that.
func redactor(c config.Config) func(string) (string, []string) {
	if c.RedactsPersonal() {
		return classify.RedactPersonal
	}
	return classify.Redact
}

// personalKeys are the keys of people: age's, each private half sealed for the home's key for recorded inputs, so that a copy of the
// store alone opens nothing.
type personalKeys struct{ home string }

// mostPersonal bounds what is opened, in bytes.
const mostPersonal = 4 * privacy.MaxText

func (k personalKeys) Make() (public string, key []byte, err error) {
	private, public, err := vault.Generate()
	if err != nil {
		return "", nil, err
	}
	seal, err := inputsSealer(k.home)
	if err != nil {
		return "", nil, err
	}
	key, err = seal([]byte(private))
	return public, key, err
}

func (k personalKeys) Seal(public string, text []byte) ([]byte, error) {
	seal, err := vault.Sealer(public)
	if err != nil {
		return nil, err
	}
	return seal(text)
}

func (k personalKeys) Open(key, sealed []byte) ([]byte, error) {
	open, err := InputsOpener(k.home)
	if err != nil {
		return nil, err
	}
	private, err := open(key, maxKey)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, inputsKeyFile, "the key of this person can't be opened with the home's key")
	}
	if open, err = vault.Opener(string(private)); err != nil {
		return nil, err
	}
	return open(sealed, mostPersonal)
}

// personalRuleset is what texts are held against before they are kept: every tier of personal data (MACE 4).
const personalRuleset = "mace-stage1"

// DetectPersonal says what may become of a text before it is written anywhere, see [governance.Governance.HandlePersonal].
func (b *Backend) DetectPersonal(ctx context.Context, by interlock.Requester, text, subject string, keep bool) (
	out admissiongovernance.PersonalAnswer, err error) {
	if text == "" {
		return out, interlock.Errorf(interlock.CodeInvalid, "text", "is missing")
	}
	if len(text) > privacy.MaxText { // before it is read
		return b.HandlePersonal(ctx, admissiongovernance.PersonalText{Screening: messages.Screening{Requester: by, Text: text}})
	}
	r := classify.Text(b.Texts().Named(personalRuleset), text)
	if r.Found > len(r.Spans) {
		return out, interlock.Errorf(interlock.CodeLimited, "text", "holds more than %d sensitive parts; hand it over in parts",
			classify.MaxSpans)
	}
	t := admissiongovernance.PersonalText{Subject: subject, Keep: keep, Shown: r.Shown, Message: r.Message, Screening: messages.Screening{
		Requester: by, Where: "text to keep", Text: text, Classification: string(r.Classification), Rule: r.Rule, Ruleset: r.Ruleset,
		Found: r.Found}}
	for _, s := range r.Spans {
		t.Kinds = append(t.Kinds, s.Kind)
		if s.Verdict() == classify.Remove {
			t.Pieces = append(t.Pieces, privacy.Piece{Start: s.Start, End: s.End, Type: s.Kind, Tier: personal.Tier(s.Tier)})
		}
	}
	return b.HandlePersonal(ctx, t)
}
