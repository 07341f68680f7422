package interlock

// An Effect is one file that a run in a throw-away copy has changed, or one that a run has made and that was set aside.
type Effect struct {
	Path    string `json:"path"`             // in the workspace
	Change  string `json:"change"`           // one of the Effect constants
	Kind    string `json:"kind"`             // file, dir, link or special
	Before  int64  `json:"before,omitempty"` // bytes
	After   int64  `json:"after,omitempty"`
	Startup bool   `json:"startup,omitempty"` // it would be run or obeyed later, by people's own tools
	Held    bool   `json:"held,omitempty"`    // it was not carried over with the rest
	Diff    string `json:"diff,omitempty"`    // of a small text, in unified form
}

// What can become of a file.
const (
	EffectAdded    = "added"
	EffectModified = "modified"
	EffectDeleted  = "deleted"
	EffectSetAside = "set aside" // it was made in the workspace and renamed, so that nothing obeys it
)

// A DryRun is what an action did when it was run in a throw-away copy, for the one who decides whether it may be run in earnest.
type DryRun struct {
	ID      string   `json:"id,omitempty"`      // of the DRY_RUN event; known once it is recorded
	Event   string   `json:"event_id"`          // of the decision
	Request string   `json:"request,omitempty"` // that waits for a human
	Action  Digest   `json:"action_digest"`
	Exit    int      `json:"exit"`
	Stopped string   `json:"stopped,omitempty"` // the limit that ended it
	Effects []Effect `json:"effects"`
	Partial bool     `json:"partial,omitempty"` // there was more than is listed
	// instead of a throw-away copy: the digest of the action as which it was tried, in the form that the rules name for its tool
	Form   Digest `json:"form_digest,omitempty"`
	Detail string `json:"detail,omitempty"` // what was said then of how it ended, redacted
}
