package console

import (
	"strings"

	"interlock"
)

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

// browserWords is what people call the browser that calls itself so; what is not known stands as it calls itself.
func browserWords(agent string) string {
	name, system := "", ""
	for _, known := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, known[0]) {
			name = known[1]
			break
		}
	}
	for _, known := range [][2]string{{"Android", "Android"}, {"iPhone", "an iPhone"}, {"iPad", "an iPad"}, {"Windows", "Windows"},
		{"Mac OS X", "a Mac"}, {"CrOS", "a Chromebook"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, known[0]) {
			system = known[1]
			break
		}
	}
	if name == "" || system == "" {
		return agent
	}
	return name + " on " + system
}

// Told is what a challenge is about, taken apart for reading; who signs is shown all of it.
func (h held) Told() proposed { return takeApart(h.Display) }
