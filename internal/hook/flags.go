package hook

import (
	"path/filepath"
	"strings"
	"time"
)

// Flags are the arguments that registered commands have after "hook". They are read by hand because building a command
// table costs more than judging a call.
type Flags struct {
	Agent      string
	Event      string
	Home       string // absolute; empty: the usual one
	Deadline   time.Duration
	Unattended bool
	Socket     string // absolute; of the system's server, which runs as another user. Empty: this user's own
}

// ParseFlags reads them. It reports false for anything a registration does not hold; the full command line knows the rest.
func ParseFlags(args []string) (Flags, bool) {
	f := Flags{Deadline: DefaultDeadline}
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if name == "--unattended" && !joined {
			f.Unattended = true
			continue
		}
		if !joined {
			if len(args) == 0 {
				return f, false
			}
			value, args = args[0], args[1:]
		}
		var err error
		switch name {
		case "--agent":
			f.Agent = value
		case "--event":
			f.Event = value
		case "--deadline":
			f.Deadline, err = time.ParseDuration(value)
		case "--home":
			f.Home, err = filepath.Abs(value)
		case "--socket":
			f.Socket, err = filepath.Abs(value)
		default:
			return f, false
		}
		if err != nil {
			return f, false
		}
	}
	return f, f.Agent != "" && f.Deadline >= MinDeadline && f.Deadline <= MaxDeadline
}
