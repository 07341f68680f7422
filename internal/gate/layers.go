package gate

// Timing says whether an action waits for a layer of control.
type Timing string

// The timings.
const (
	Sync  Timing = "sync"  // nothing is permitted before it has spoken
	Async Timing = "async" // it looks on beside the action or after it, and tightens what comes next
)

// A Layer is one layer of control as MASO has them labelled (EC-2.9).
type Layer struct {
	Name   string
	Timing Timing
	Does   string
	Fails  string // what becomes of an action where the layer fails
}

// Layers lists what there is between an action and the world besides the gates, in the order in which an action meets it.
func Layers() []Layer {
	return []Layer{
		{"analysis", Sync, "says what the action would do, within bounds of size, depth and work", "what is not understood is asked about"},
		{"gates", Sync, "object by rules, types, classes, limits and holds: the table below", "an error denies"},
		{"first use", Sync, "from tier 2 on: asks where agents of the type have not used a tool before", "an error denies"},
		{"limits", Sync, "reserve what the action would use, in the transaction that records it", "no room denies or asks; an error denies"},
		{"breakers and phases", Sync, "what holds an agent, its type, its run or everything is read with the decision and binds it", "an error denies"},
		{"human approval", Sync, "where the answer is ask: a signed yes, bound to this action, within the time its risk gives",
			"nobody's answer in time is a no; a later one is refused"},
		{"log", Sync, "the event is durable and signed before anybody hears allow", "what can't be recorded is denied"},
		{"sandbox", Sync, "where an obligation asks for it: the kernel holds what runs within its profile", "it does not run"},
		{"gateway", Sync, "passes on what was allowed, and holds results against what the server declared", "the call is refused"},
		{"kill switch", Sync, "a file and a row that every process looks at before each permit", "what can't be read counts as killed"},
		{"outcomes", Async, "settle what limits reserved, end what a half-open breaker let run", "what nobody reports stays charged"},
		{"time to answer", Async, "tells people at half and at four fifths of a question's time, and ends it at its end",
			"the time counts whether anybody looks or not"},
		{"latency", Async, "tells people of orchestrations that take longer than the rules say", "decisions look as well, and the next look tells"},
		{"signals", Async, "of observers isolate, suspend or stop agents", "they are refused and the observer told; nothing is loosened"},
		{"shadow", Async, "a candidate of rules decides beside those in force and answers nobody", "what finds no room is left out and counted"},
		{"notification", Async, "takes questions, codes and alerts to people", "the question waits where it can be seen, and its time counts"},
		{"witnesses and shipping", Async, "take checkpoints and events to other machines", "doctor and the console say so; sent again"},
	}
}
