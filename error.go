package interlock

import (
	"fmt"
)

// An Error is a refusal a caller may read: a code from a small closed set, the field at fault where there is one, and a
// message that holds no secret, path or type name. Every other error is internal and shown as such.
type Error struct {
	Code    Code
	Field   string // JSON pointer or flag name
	Message string
}

// A Code classifies an [Error]. Codes are never renamed.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid"      // the input is wrong; Message says how to mend it
	CodeNotFound     Code = "not_found"    // no such thing
	CodeConflict     Code = "conflict"     // something changed in between; read again
	CodeExpired      Code = "expired"      // the time for it has passed
	CodeUnauthorized Code = "unauthorized" // the caller may not
	CodeLimited      Code = "limited"      // over a bound; Message names it
	CodeUnavailable  Code = "unavailable"  // a part that is needed does not answer
	CodeInternal     Code = "internal"     // a defect or an unexpected failure
)

// Error returns the message, led by the field at fault.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Errorf returns an [*Error] with a formatted message.
func Errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}
