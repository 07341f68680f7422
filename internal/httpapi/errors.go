package httpapi

import (
	"errors"
	"net/http"

	"interlock"
	"interlock/internal/strictjson"
)

// statuses maps every code to the status it is answered with. A code that is not here is answered 500.
var statuses = map[interlock.Code]int{
	interlock.CodeInvalid:      http.StatusBadRequest,
	interlock.CodeNotFound:     http.StatusNotFound,
	interlock.CodeConflict:     http.StatusConflict,
	interlock.CodeExpired:      http.StatusGone,
	interlock.CodeUnauthorized: http.StatusForbidden, // 401 where who asks is what is missing
	interlock.CodeLimited:      http.StatusTooManyRequests,
	interlock.CodeUnavailable:  http.StatusServiceUnavailable,
	interlock.CodeInternal:     http.StatusInternalServerError,
}

// A statusError is an error whose status is more exact than its code's.
type statusError struct {
	status int
	err    *interlock.Error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// fail answers with an error. What is not an [*interlock.Error] is internal: the server's log has it, and the caller learns
// no more than that.
func (x *exchange) fail(err error) {
	var exact *statusError
	if errors.As(err, &exact) {
		x.failStatus(exact.status, err)
		return
	}
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		status, known := statuses[refusal.Code]
		if !known {
			status = http.StatusInternalServerError
		}
		x.failStatus(status, err)
		return
	}
	x.cause = err
	x.failStatus(http.StatusInternalServerError, err)
}

// errorBody is what every error looks like. Decisions carry a refusal beside it, so that a caller which reads only the
// member it came for finds a no.
type errorBody struct {
	Answer   string      `json:"answer,omitempty"`
	Decision *bool       `json:"decision,omitempty"`
	Error    errorDetail `json:"error"`
}

type errorDetail struct {
	Code    interlock.Code `json:"code"`
	Message string         `json:"message"`
	Field   string         `json:"field,omitempty"`
}

func detailOf(err error) errorDetail {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return errorDetail{Code: refusal.Code, Message: refusal.Message, Field: refusal.Field}
	}
	return errorDetail{Code: interlock.CodeInternal, Message: "something failed inside; the server's log has it"}
}

func (x *exchange) failStatus(status int, err error) {
	body := errorBody{Error: detailOf(err)}
	x.code = body.Error.Code
	switch x.route {
	case routeDecide:
		body.Answer = interlock.Deny.String()
	case routeEvaluation, routeEvaluations:
		body.Decision = new(bool)
	}
	data, encodeErr := strictjson.Marshal(body)
	if encodeErr != nil { // a message that isn't UTF-8; the code still says what kind of no it is
		data = []byte(`{"error":{"code":"internal","message":"the error could not be written"}}`)
	}
	x.answer(status, typeJSON, append(data, '\n'))
}

// refuse records input that was refused before it became an action and answers with the error. A bound the input breaks is
// 413, unlike one that time mends. A body that came too slowly is no input yet and leaves nothing.
func (x *exchange) refuse(err error) {
	var exact *statusError
	if errors.As(err, &exact) && exact.status == http.StatusRequestTimeout {
		x.count(x.server.agents)
		x.fail(err)
		return
	}
	x.record(err)
	var refusal *interlock.Error
	if errors.As(err, &refusal) && refusal.Code == interlock.CodeLimited {
		x.failStatus(http.StatusRequestEntityTooLarge, err)
		return
	}
	x.fail(err)
}
