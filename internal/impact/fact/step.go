package fact

// A Step is one part of an action as the analysis read it: a statement, a pipeline, a command, a program inside a command.
// The whole is a tree. [Decision.Impacts] of the same action is what Impacts counts in.
type Step struct {
	Kind    string `json:"kind"`              // shell, powershell, cmd, sql, python, …, pipeline, command, function, file
	Text    string `json:"text,omitempty"`    // how it reads once quotes and variables are resolved, shortened, secrets taken out
	Impacts []int  `json:"impacts,omitempty"` // the impacts that arise here and not further in, counted from 0
	Steps   []Step `json:"steps,omitempty"`   // what it is made of, or runs
}
