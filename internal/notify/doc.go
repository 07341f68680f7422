// Package notify will tell people that something waits for them or went wrong: desktop, mail, chat and webhooks, behind
// one port that admission declares.
//
// It must never carry a secret, a challenge code to a channel an agent can read, or an approval: what it sends informs and
// proves nothing.
//
// Nothing is here yet. Whoever has to answer finds what is pending with the command line.
package notify
