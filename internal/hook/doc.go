// Package hook translates between coding agents' hook protocols and proposals. Each harness sends JSON about one tool
// call on standard input and expects its own form of answer on standard output, standard error and as exit status; one
// file per dialect knows both directions and nothing else does.
//
// The package never decides. What it can't read it refuses, in the dialect of the harness, because in every harness a
// hook that fails or stays silent lets the tool run. Silence is said only for an Allow that names a durable event, for
// events that carry nothing to judge, and for events after the fact.
//
// Parse makes a Call of a payload, Render writes the answers to a call's proposals, Refuse writes a refusal where there
// is no answer. These are functions of their arguments. Process runs them against a deadline and asks the server; who
// embeds it brings what decides without one. Start with call.go; tool names become actions in tools.go, the process is
// process.go; docs/hooks.md shows every dialect's bytes.
package hook
