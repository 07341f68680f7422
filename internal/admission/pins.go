package admission

import "interlock"

// pinOf is what the standing knows of the tool an upstream would run, or of the server itself, as far as a decision needs it.
func pinOf(standing interlock.Standing, u *interlock.Upstream) *interlock.Pin {
	if u == nil {
		return nil
	}
	pin, known := standing.Pins[interlock.PinKey(u.Server, u.Tool)]
	if !known {
		return nil
	}
	return &interlock.Pin{Server: pin.Server, Tool: pin.Tool, Status: pin.Status, Why: pin.Why, Identity: pin.Identity, Definition: pin.Definition}
}
