package httpapi

import (
	"context"
	"errors"
	"net/http"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/strictjson"
)

// Personal is what saying what may become of personal data needs of admission.
type Personal interface {
	DetectPersonal(ctx context.Context, by interlock.Requester, text, subject string, keep bool) (governance.PersonalAnswer, error)
}

type personalBody struct {
	Text      string               `json:"text"`    // what is about to be kept or repeated
	Subject   string               `json:"subject"` // whose the personal data in it is, by an id, where it is wanted as it is
	Keep      bool                 `json:"keep"`    // have it kept here, sealed under that person's key
	Run       string               `json:"run"`     // the run that consents are looked up for
	Requester *interlock.Requester `json:"requester"`
}

// personal says what may become of a text before it is written anywhere (MACE 4). Agents ask; consents are people's to record.
func (x *exchange) personal() {
	if x.server.config.Personal == nil {
		x.fail(interlock.Errorf(interlock.CodeUnavailable, "", "personal data is not looked for here"))
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	var body personalBody
	by, err := readRun(x, &body, &body.Requester)
	if unread := (*unreadError)(nil); errors.As(err, &unread) {
		x.refuse(unread.err)
		return
	}
	if body.Run != "" {
		by.Run = body.Run
	}
	if err == nil && len(by.Run) > maxName {
		err = tooLong("/run", maxName)
	}
	if err != nil {
		x.fail(err)
		return
	}
	said, err := x.server.config.Personal.DetectPersonal(ctx, by, body.Text, body.Subject, body.Keep)
	if err != nil {
		x.fail(err)
		return
	}
	text, err := strictjson.Marshal(said)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, typeJSON, append(text, '\n'))
}
