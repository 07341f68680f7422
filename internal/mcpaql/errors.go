package mcpaql

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"interlock"
)

// A Code classifies a [Failure]. The codes are MCP-AQL's and never change.
type Code string

// The codes.
const (
	CodeMissingParam      Code = "VALIDATION_MISSING_PARAM"
	CodeInvalidType       Code = "VALIDATION_INVALID_TYPE"
	CodeUnknownParam      Code = "VALIDATION_UNKNOWN_PARAM"
	CodeInvalidEncoding   Code = "VALIDATION_INVALID_ENCODING"
	CodePayloadTooLarge   Code = "VALIDATION_PAYLOAD_TOO_LARGE"
	CodeEndpointMismatch  Code = "VALIDATION_ENDPOINT_MISMATCH"
	CodeNoOperation       Code = "NOT_FOUND_OPERATION"
	CodeNoResource        Code = "NOT_FOUND_RESOURCE"
	CodePermissionDenied  Code = "PERMISSION_DENIED"
	CodeTrustInsufficient Code = "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
	CodeDangerDenied      Code = "PERMISSION_DANGER_LEVEL_DENIED"
	CodeConfirmation      Code = "CONFIRMATION_REQUIRED"
	CodeRateLimit         Code = "RATE_LIMIT_EXCEEDED"
	CodeQuotaPause        Code = "RATE_LIMIT_QUOTA_PAUSE"
	CodeQuotaExhausted    Code = "RATE_LIMIT_QUOTA_EXHAUSTED"
	CodeTokenInvalid      Code = "TOKEN_INVALID"
	CodeTokenExpired      Code = "TOKEN_EXPIRED"
	CodeTokenUsed         Code = "TOKEN_ALREADY_USED"
	CodeTokenScope        Code = "TOKEN_SCOPE_MISMATCH"
	CodeConflict          Code = "CONFLICT_VERSION_MISMATCH" // what it was about has moved on, such as an execution that has ended
	CodeInternal          Code = "INTERNAL_ERROR"
)

// Codes lists every code, in the order documentation names them.
func Codes() []Code {
	return []Code{CodeMissingParam, CodeInvalidType, CodeUnknownParam, CodeInvalidEncoding, CodePayloadTooLarge,
		CodeEndpointMismatch, CodeNoOperation, CodeNoResource, CodePermissionDenied, CodeTrustInsufficient, CodeDangerDenied, CodeConfirmation,
		CodeRateLimit, CodeQuotaPause, CodeQuotaExhausted, CodeTokenInvalid, CodeTokenExpired, CodeTokenUsed, CodeTokenScope,
		CodeConflict, CodeInternal}
}

// Status is the HTTP status of a code, by its class (AQL-E-2).
func (c Code) Status() int {
	class, _, _ := strings.Cut(string(c), "_")
	switch {
	case c == CodePayloadTooLarge:
		return http.StatusRequestEntityTooLarge
	case c == CodeInvalidType, c == CodeUnknownParam:
		return http.StatusUnprocessableEntity
	case class == "VALIDATION", c == CodeTokenInvalid, c == CodeTokenExpired:
		return http.StatusBadRequest
	case class == "NOT":
		return http.StatusNotFound
	case class == "PERMISSION", class == "CONFIRMATION", class == "TOKEN":
		return http.StatusForbidden
	case class == "CONFLICT":
		return http.StatusConflict
	case class == "RATE":
		return http.StatusTooManyRequests
	default: // also a code nobody knows
		return http.StatusInternalServerError
	}
}

// A Failure is an error as an agent reads it: what is wrong, named by parameter, and what would mend it. It never holds a
// path, a stack, a type of the program or a secret.
type Failure struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// with is the failure with one more detail.
func (f *Failure) with(name string, value any) *Failure {
	more := *f
	more.Details = map[string]any{name: value}
	for n, v := range f.Details {
		more.Details[n] = v
	}
	return &more
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// A Result is what every operation answers with: data or an error, never both (AQL-5.1).
type Result struct {
	Data  any
	Error *Failure
	batch *batchResult
}

// Success reports whether the operation was carried out. A directive that says stop is a success: the report was taken.
func (r Result) Success() bool { return r.Error == nil }

// MarshalJSON writes the envelope.
func (r Result) MarshalJSON() ([]byte, error) {
	switch {
	case r.Error != nil:
		return encode(struct {
			Success bool     `json:"success"`
			Error   *Failure `json:"error"`
		}{false, r.Error})
	case r.batch != nil:
		return encode(struct {
			Success bool `json:"success"`
			Data    any  `json:"data"`
			*batchResult
		}{true, nil, r.batch})
	default:
		return encode(struct {
			Success bool `json:"success"`
			Data    any  `json:"data"`
		}{true, r.Data})
	}
}

// encode writes JSON without turning <, > and & into escapes: a model reads this.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// failed turns an error of admission into a failure. What is not meant for callers becomes an internal error that says
// nothing further.
func failed(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return &Failure{Code: CodeInternal,
			Message: "Internal error: the request could not be completed; try again, then ask the operator to run `interlock doctor`"}
	}
	code := CodeInternal
	switch refusal.Code {
	case interlock.CodeInvalid:
		code = CodeInvalidType
	case interlock.CodeNotFound:
		code = CodeNoResource
	case interlock.CodeConflict:
		code = CodeConflict
	case interlock.CodeExpired:
		code = CodeTokenExpired
	case interlock.CodeUnauthorized:
		code = CodePermissionDenied
	case interlock.CodeLimited:
		code = CodeRateLimit
	}
	return &Failure{Code: code, Message: refusal.Error()}
}
