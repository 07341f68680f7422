package hook

// RefuseSystem answers a call that the server of the system gave no answer to. What it is called for is not said to it: only that
// nobody decided, and what to do about that.
func RefuseSystem(call Call, socket string) Output {
	if call.Impostor {
		return Refuse(call, "unavailable", "what listens at "+socket+" is not the system's server; tell whoever runs this machine")
	}
	return Refuse(call, "unavailable", "the system's server at "+socket+" gave no answer; `systemctl status interlock` says why, and "+
		"whoever may use it is in the group interlock-agents")
}
