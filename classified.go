package interlock

// A Classified is what the deterministic classifier says of a text (MACE 3). Nothing but Shown may go on.
type Classified struct {
	Classification string     `json:"classification"` // OK, REDACT, FLAG_FOR_REVIEW or BLOCK
	Rule           string     `json:"rule"`           // that wants it; empty for OK
	Reason         string     `json:"reason,omitempty"`
	Message        string     `json:"message,omitempty"` // what people are told, in exact words
	Ruleset        string     `json:"ruleset"`           // id of the safety ruleset; empty: it is not known, and all is blocked
	Spans          []TextSpan `json:"spans"`             // the first of what was found
	Found          int        `json:"found"`
	Redacted       string     `json:"redacted"` // the text without what is sensitive
	Shown          string     `json:"shown"`    // what of it may go on
	// id of the request by which the council reviews what was left out; or why nobody does
	Review     string `json:"review,omitempty"`
	Unreviewed string `json:"unreviewed,omitempty"`
}

// A TextSpan is what one rule found in a text: its bytes from Start up to End.
type TextSpan struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Rule  string `json:"rule"`
	Kind  string `json:"kind"`
	Tier  string `json:"tier,omitempty"` // of personal data: high, medium or low
}
