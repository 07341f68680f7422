// Package judge is the client of the language models that second-guess an action, a plan or an output: OpenAI-compatible and
// Anthropic endpoints and a local command. A judge sees the question and its ground rules and nothing of any conversation. It answers
// in one strict form; an outage, a timeout or an answer that is not of that form is a denial with a reason of its own (ASA 9.1).
//
// It must never allow anything: a judge can only object, and what it says is weighed by others. It must never carry anything from one
// question to the next: no cookies, no conversation, no user. It reads no environment and no settings; what wires it hands over
// what it needs. It must never import the sandbox: a command is run by a function that comes in.
//
// Start with Client.Ask; prompt.go is what a model is shown, answer.go what counts as its answer.
package judge
