package cli

import "interlock/internal/quorum"

// Pair says what a home lacks whose first operator has a role: the one beside them in an emergency.
func Pair(first string) string {
	if first == quorum.RoleSuperadmin {
		return Lacking(quorum.RoleAdmin)
	}
	return Lacking(quorum.RoleSuperadmin)
}

// Lacking says what can't be done where nobody has one of the two roles that act together in an emergency, and how somebody gets it.
func Lacking(role string) string {
	return "in an emergency a superadmin and an admin act together, and there is no " + role + ": until there is, nobody halts all replays, " +
		"quarantines a module at once or freezes rules and settings (docs/council.md). Add a second person: interlock operator add NAME --role " +
		role + " --ssh-key FILE"
}
