// Package judge will hold the clients of the language models that second-guess an action: OpenAI-compatible and Anthropic
// endpoints and a local command, behind one port that admission declares. A judge will see the action, its impacts and
// the ground rules, and nothing of the conversation; it will answer in strict JSON; an outage, a timeout or an answer it
// can't read will be an objection.
//
// It must never allow anything: a judge can only object. It must never carry anything from one question to the next.
//
// Nothing is here yet. No action is judged by a model, and nothing in the product says otherwise.
package judge
