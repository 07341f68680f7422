package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"interlock"
	"interlock/internal/strictjson"
)

// evaluationBody is an OpenID AuthZEN 1.0 evaluation request. Members it does not know are ignored, as that standard
// lets requests grow; duplicates and foreign case are refused as everywhere.
type evaluationBody struct {
	Subject  *authzenEntity  `json:"subject"`
	Action   *authzenAction  `json:"action"`
	Resource *authzenEntity  `json:"resource"`
	Context  json.RawMessage `json:"context"`
}

type authzenEntity struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Properties json.RawMessage `json:"properties"`
}

type authzenAction struct {
	Name       string          `json:"name"`
	Properties json.RawMessage `json:"properties"`
}

// evaluationsBody is an evaluations request: defaults, and items that override them member by member.
type evaluationsBody struct {
	Subject     *authzenEntity   `json:"subject"`
	Action      *authzenAction   `json:"action"`
	Resource    *authzenEntity   `json:"resource"`
	Context     json.RawMessage  `json:"context"`
	Evaluations []evaluationBody `json:"evaluations"`
	Options     struct {
		Semantic string `json:"evaluations_semantic"`
	} `json:"options"`
}

// evaluationAnswer is an AuthZEN decision. The zero value denies.
type evaluationAnswer struct {
	Decision bool               `json:"decision"`
	Context  *evaluationContext `json:"context,omitempty"`
}

// evaluationContext says why, and for an Ask what has to be answered before the same evaluation can turn out otherwise.
type evaluationContext struct {
	Event       string              `json:"id,omitempty"` // the durable event
	Verdict     string              `json:"verdict,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	Rule        string              `json:"rule,omitempty"`
	Digest      interlock.Digest    `json:"digest,omitempty"`
	Findings    []interlock.Finding `json:"findings,omitempty"`
	Obligations []authzenObligation `json:"obligations,omitempty"`
	Request     *accessRequest      `json:"access_request,omitempty"`
	Trust       *trustBody          `json:"trust,omitempty"`
	Error       *evaluationError    `json:"error,omitempty"`

	Text *interlock.Classified `json:"classified,omitempty"` // of a text: what of it may go on
}

type authzenObligation struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Properties map[string]string `json:"properties,omitempty"`
}

// accessRequest tells the caller that a human has been asked. There is no endpoint to answer at: agents have none.
type accessRequest struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Next   string `json:"next"`
}

type evaluationError struct {
	Status  int            `json:"status"`
	Code    interlock.Code `json:"code"`
	Message string         `json:"message"`
	Field   string         `json:"field,omitempty"`
}

// The evaluations semantics.
const (
	executeAll    = "execute_all"
	denyOnFirst   = "deny_on_first_deny"
	permitOnFirst = "permit_on_first_permit"
)

// evaluation answers POST /access/v1/evaluation.
func (x *exchange) evaluation() {
	buffer, err := x.read()
	if err != nil {
		x.refuse(err)
		return
	}
	defer release(buffer)
	var body evaluationBody
	if err := strictjson.DecodeLenient(*buffer, &body); err != nil {
		x.refuse(err)
		return
	}
	x.answerEvaluation(body)
}

// answerEvaluation decides one evaluation and answers with it alone.
func (x *exchange) answerEvaluation(body evaluationBody) {
	proposal, err := x.translate(body)
	if err != nil {
		x.refuse(err)
		return
	}
	answer := x.propose(x.way(), proposal)
	x.answerJSON(answerStatus(&answer), x.decisionOf(&answer))
}

// evaluations answers POST /access/v1/evaluations. The items are decided in order; each is one recorded decision.
func (x *exchange) evaluations() {
	buffer, err := x.read()
	if err != nil {
		x.refuse(err)
		return
	}
	defer release(buffer)
	var body evaluationsBody
	if err := strictjson.DecodeLenient(*buffer, &body); err != nil {
		x.refuse(err)
		return
	}
	defaults := evaluationBody{Subject: body.Subject, Action: body.Action, Resource: body.Resource, Context: body.Context}
	if len(body.Evaluations) == 0 {
		x.answerEvaluation(defaults) // AuthZEN 7.1: without items this is a single evaluation
		return
	}
	semantic := body.Options.Semantic
	if semantic == "" {
		semantic = executeAll
	}
	most := x.server.config.Limits.Evaluations
	switch {
	case semantic != executeAll && semantic != denyOnFirst && semantic != permitOnFirst:
		x.refuse(interlock.Errorf(interlock.CodeInvalid, "/options/evaluations_semantic", "is not known; name %s, %s or %s",
			executeAll, denyOnFirst, permitOnFirst))
		return
	case len(body.Evaluations) > most:
		x.refuse(interlock.Errorf(interlock.CodeLimited, "/evaluations", "holds more than %d evaluations", most))
		return
	}
	answers := struct {
		Evaluations []evaluationAnswer `json:"evaluations"`
	}{}
	for _, item := range body.Evaluations {
		one := x.evaluateItem(inherit(item, defaults))
		answers.Evaluations = append(answers.Evaluations, one)
		if semantic == denyOnFirst && !one.Decision || semantic == permitOnFirst && one.Decision {
			break
		}
	}
	x.answerJSON(http.StatusOK, answers)
}

func inherit(item, defaults evaluationBody) evaluationBody {
	if item.Subject == nil {
		item.Subject = defaults.Subject
	}
	if item.Action == nil {
		item.Action = defaults.Action
	}
	if item.Resource == nil {
		item.Resource = defaults.Resource
	}
	if len(item.Context) == 0 {
		item.Context = defaults.Context
	}
	return item
}

// evaluateItem decides one of several; what is wrong with it is its own answer and leaves the others alone.
func (x *exchange) evaluateItem(body evaluationBody) evaluationAnswer {
	proposal, err := x.translate(body)
	if err == nil {
		answer := x.propose(x.way(), proposal)
		return x.decisionOf(&answer)
	}
	x.record(err)
	detail := detailOf(err)
	status, known := statuses[detail.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	return evaluationAnswer{Context: &evaluationContext{
		Error: &evaluationError{Status: status, Code: detail.Code, Message: detail.Message, Field: detail.Field},
	}}
}

// decisionOf puts an answer into AuthZEN's words. Only an allow that names its event permits.
func (x *exchange) decisionOf(a *interlock.Answer) evaluationAnswer {
	context := &evaluationContext{Event: a.Event, Verdict: a.Verdict.String(), Digest: a.Action, Findings: a.Findings, Trust: x.trusted(a)}
	if finding := a.Decisive(); finding != nil {
		context.Reason, context.Rule = finding.Reason, finding.Rule
	}
	for _, obligation := range a.Obligations {
		properties := map[string]string{"obligation": obligation.Type}
		if obligation.Note != "" {
			properties["note"] = obligation.Note
		}
		context.Obligations = append(context.Obligations,
			authzenObligation{ID: "interlock:" + obligation.Type, Type: "custom", Properties: properties})
	}
	if a.Request != "" {
		context.Request = &accessRequest{ID: a.Request, Status: "pending",
			Next: "an operator answers it with `interlock approve`; then evaluate the same request again"}
	}
	context.Text = a.Text
	whole := a.Text == nil || a.Text.Message == "" // a yes is for the text as it was sent, and only parts of it may go on
	return evaluationAnswer{Decision: a.Answer.Allowed() && a.Event != "" && whole, Context: context}
}

func (x *exchange) answerJSON(status int, value any) {
	data, err := strictjson.Marshal(value)
	if err != nil {
		x.fail(errors.New("an answer could not be encoded"))
		return
	}
	x.answer(status, typeJSON, append(data, '\n'))
}

// authzenConfiguration answers GET /.well-known/authzen-configuration. It is the one page that needs no token besides
// health and metrics, because a caller reads it to find out where to go.
func (x *exchange) authzenConfiguration() {
	base := "http://" + x.r.Host
	if x.door != network {
		base = "http://localhost" // there is no host on a socket; the paths are what counts
	}
	x.answerJSON(http.StatusOK, struct {
		Point       string `json:"policy_decision_point"`
		Evaluation  string `json:"access_evaluation_endpoint"`
		Evaluations string `json:"access_evaluations_endpoint"`
	}{base, base + "/access/v1/evaluation", base + "/access/v1/evaluations"})
}
