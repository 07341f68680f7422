package interlock

// An Origin says of one action where the values in it come from, as far as the run's doors have told. It holds none of them.
type Origin struct {
	Prompted bool     `json:"prompted,omitempty"` // the user's words are known
	Asked    []string `json:"asked,omitempty"`    // the kinds of act they ask for, sorted
	Named    int      `json:"named,omitempty"`    // values of the action that the user named, or a file the user named
	Whole    int      `json:"whole,omitempty"`    // how many of these whole, and not only by the host they are on
	Returned int      `json:"returned,omitempty"` // values that only results hold
	Sent     int      `json:"sent,omitempty"`     // of these, those that say where something goes: addresses, accounts, hosts
	Unheard  int      `json:"unheard,omitempty"`  // values that say where something goes and that nobody has named
	Ordered  int      `json:"ordered,omitempty"`  // values that results with instructions hold, and the user has not named
	Linked   int      `json:"linked,omitempty"`   // of these, addresses on the network
	Disputed int      `json:"disputed,omitempty"` // values that the user named and a result with instructions holds as well
	Orders   bool     `json:"orders,omitempty"`   // the run has read instructions in a result
	Source   string   `json:"source,omitempty"`   // the tool that the first value of a result came from
}
