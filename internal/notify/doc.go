// Package notify takes notices to humans: by mail, webhook, Slack, ntfy, a dialog on the desktop, or, where an operator comes
// and asks, the console and the terminal. It is the implementation of admission's Notifier.
//
// A notice may carry a challenge's code, so a channel is a place the agent can't look: which ones are, the operator decides by
// configuring them. The code goes into the message and nowhere else: errors are reworded and never quote a server, an
// address or a request. Secrets of channels come by reference, from the environment or a file. What is sent informs and proves
// nothing; an answer counts by its own proof.
//
// Start with notify.go, which chooses among channels; each kind has its file, message.go says what is written, client.go how
// HTTP is spoken.
package notify
