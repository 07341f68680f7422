package know

import (
	"interlock"
)

// A Place is what the analysis knows about one path.
type Place struct {
	Path       string // cleaned, absolute where the working directory is known; ~ where the home directory is not
	Reach      interlock.Reach
	Traits     []string
	Confidence interlock.Confidence

	Assumed bool // it is in the workspace only as far as nothing says otherwise
	Scratch bool // it is the root of scratch space itself
	Passing bool // it lies in scratch space, where nobody keeps work

	Listed    bool // only names are looked at, not what files hold
	Opened    bool // it means all that lies below it, and secrets are among that
	MaybeSelf bool // it is a pattern that could be filled in so that it names something of Interlock's own
}
