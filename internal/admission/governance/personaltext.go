package governance

import (
	"context"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/privacy"
)

// CodePrivacy is what a program is told where personal data may not be kept, as MACE's companion spells it.
const CodePrivacy = "PRIVACY_BLOCKED"

// A PersonalText is a text that somebody is about to keep or repeat, with what was found in it.
type PersonalText struct {
	messages.Screening
	Subject string          // whose the personal data is, and is wanted as it is; empty: the text is to go on without it
	Keep    bool            // it is to be kept here, sealed
	Pieces  []privacy.Piece // in the order of the text
	Shown   string          // what the classifier shows of a text that it lets on only in part, or not at all
	Message string          // and what it says
}

// A PersonalAnswer is what may become of such a text.
type PersonalAnswer struct {
	Outcome privacy.Outcome `json:"outcome"`           // allowed, redacted or consent_required
	Code    string          `json:"code,omitempty"`    // PRIVACY_BLOCKED where consent is required
	Message string          `json:"message,omitempty"` // what people are told
	Text    string          `json:"text"`              // what may be kept or repeated: all of it only where outcome is allowed
	Found   []PersonalFound `json:"found,omitempty"`   // each piece of personal data
	Needs   []string        `json:"needs,omitempty"`   // what is missing: consent, council
	Kept    string          `json:"kept,omitempty"`    // the id under which it is kept, sealed
	Event   string          `json:"event_id,omitempty"`
}

// A PersonalFound is one piece of personal data.
type PersonalFound struct {
	Type string `json:"pii_type"`
	Tier string `json:"tier"`
	Hash string `json:"pii_hash"` // HMAC-SHA256 with a key that changes with the month, over the value and the run
}

// HandlePersonal says what may become of a text before it is written anywhere (MACE 4), and keeps it where it is asked to. What may not
// be kept leaves PII_FLAGGED and REDACTION_EVENT with keyed hashes first; on an error nothing may go on.
func (a *Governance) HandlePersonal(ctx context.Context, t PersonalText) (out PersonalAnswer, err error) {
	switch {
	case len(t.Text) > privacy.MaxText:
		return out, interlock.Errorf(interlock.CodeLimited, "text", "is longer than %d bytes; hand it over in parts", privacy.MaxText)
	case t.Keep && t.Subject == "":
		return out, interlock.Errorf(interlock.CodeInvalid, "subject", "name whose data is to be kept")
	case t.Subject != "":
		if err := privacy.CheckSubject(t.Subject); err != nil {
			return out, err
		}
	}
	authority, err := a.Consented(ctx, t.Subject, t.Requester)
	if err != nil {
		return out, err
	}
	hashes, err := a.hashed(&t, &out)
	if err != nil {
		return out, err
	}
	out.Outcome, out.Needs = privacy.Gate(t.Pieces, authority, t.Subject != "", true)
	out.Text = privacy.Kept(t.Text, t.Pieces, authority, classify.Redacted, hashes)
	switch part := t.Classification != string(classify.Pass) && t.Classification != string(classify.Remove); {
	case part: // its own words stand for it, whoever has consented to what
		out.Outcome, out.Needs, out.Text, out.Message = privacy.Redacted, nil, t.Shown, t.Message
		authority, t.Keep = privacy.Authority{}, false
	case out.Outcome == privacy.ConsentRequired:
		out.Code, out.Message = CodePrivacy, classify.PrivacyMessage
	case out.Outcome == privacy.Redacted:
		out.Message = classify.RedactMessage
	}
	if out.Outcome != privacy.Allowed {
		if err := a.unkept(ctx, &t, &out, authority); err != nil || out.Outcome == privacy.ConsentRequired {
			return out, err
		}
	}
	if t.Keep {
		var event string
		if out.Kept, event, err = a.keepPersonal(ctx, t, out.Text); err == nil && out.Event == "" {
			out.Event = event
		}
	}
	return out, err
}

// hashed fills in what was found, with keyed hashes: no value leaves here that nobody has permitted to be kept.
func (a *Governance) hashed(t *PersonalText, out *PersonalAnswer) ([]string, error) {
	if a.Config.Hash == nil {
		return nil, interlock.Errorf(interlock.CodeUnavailable, "hash.key", "personal data can't be told without the key for hashes")
	}
	hashes := make([]string, len(t.Pieces))
	for n, p := range t.Pieces {
		if p.Tier == "" {
			continue
		}
		hash, _, err := a.Config.Hash(t.Text[p.Start:p.End], core.RunOf(t.Requester), a.Config.Now().UTC())
		if err != nil {
			return nil, err
		}
		hashes[n] = hash
		out.Found = append(out.Found, PersonalFound{Type: p.Type, Tier: string(p.Tier), Hash: hash})
	}
	return hashes, nil
}

// unkept records what of a text was not kept.
func (a *Governance) unkept(ctx context.Context, t *PersonalText, out *PersonalAnswer, authority privacy.Authority) error {
	s := t.Screening
	s.Durable, s.Personal = true, nil
	for _, p := range t.Pieces {
		if p.Tier != "" && !authority.Permits(p.Tier) {
			s.Personal = append(s.Personal, messages.Personal{Type: p.Type, Tier: string(p.Tier), Value: t.Text[p.Start:p.End]})
		}
	}
	screened, err := a.Screened(ctx, s)
	out.Event = screened.Event
	return err
}
