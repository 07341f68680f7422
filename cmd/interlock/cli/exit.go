package cli

import "fmt"

// ExitCode carries a process exit status through Run methods. A nil err prints nothing.
type ExitCode struct {
	Code int
	Err  error
}

func (e *ExitCode) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Usage wraps an error as misuse of the command line: exit status 2.
func Usage(err error) error { return &ExitCode{Code: 2, Err: err} }
