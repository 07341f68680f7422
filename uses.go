package interlock

// maxUses bounds how many events an action says that it uses the output of.
const maxUses = 64

// CheckUses refuses what [Proposal] or [Outcome] can't say of the events whose output an action uses.
func CheckUses(uses []string) error {
	if len(uses) > maxUses {
		return Errorf(CodeInvalid, "/uses", "names more than %d events", maxUses)
	}
	for _, id := range uses {
		if !isEventID(id) {
			return Errorf(CodeInvalid, "/uses", "%.20q is no event id: 64 hexadecimal digits, as the answer to an action names them", id)
		}
	}
	return nil
}

func isEventID(id string) bool {
	for _, c := range id {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(id) == 64
}
