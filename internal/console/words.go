package console

import "interlock"

// methodWords says by what an answer or an order was signed.
func methodWords(method string) string {
	switch method {
	case "", interlock.MethodSSH:
		return "an SSH key"
	case interlock.MethodPasskey:
		return "a passkey"
	case interlock.MethodSession:
		return "a session here"
	case interlock.MethodCode:
		return "a code"
	case interlock.MethodRequester:
		return "the side that asked"
	}
	return method
}

// Told is what a challenge is about, taken apart for reading; who signs is shown all of it.
func (h held) Told() proposed { return takeApart(h.Display) }
