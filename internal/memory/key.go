// Package memory is what agents keep: facts under keys, whose each is, what it derives from, and which of its versions is answered. It
// is a function of its arguments: where facts are kept and who may write one is for package admission.
//
// It must never read a clock or a file, or answer a version that it is told is hidden. Start with key.go, then fact.go.
package memory

import "strings"

// What came of something that an agent asked of its memory, in the exact words of MACE's companion about memory; OK is ours.
const (
	OK               = "OK"
	NotFound         = "SEM_NOT_FOUND"
	StableFailed     = "SEM_WRITE_FAIL"
	Failed           = "MEMORY_WRITE_FAIL"
	PermissionDenied = "PERMISSION_DENIED"
	PrivacyBlocked   = "PRIVACY_BLOCKED"
	PolicyBlocked    = "POLICY_BLOCKED"
	InvalidKey       = "INVALID_KEY_FORMAT"
	StorageFull      = "STORAGE_FULL"
)

// The form of a key: scope, type of entity, entity and attribute.
const (
	keyParts = 4
	maxPart  = 64 // bytes
	maxName  = 150
)

// KeyForm is what somebody with another key is told.
const KeyForm = "a key is scope/entity_type/entity_id/attribute, each part 1 to 64 of a to z, 0 to 9 and _, the third with - as well"

// ValidKey reports whether a text has the form of a key.
func ValidKey(key string) bool {
	parts := strings.Split(key, "/")
	if len(parts) != keyParts {
		return false
	}
	for n, part := range parts {
		signs := "abcdefghijklmnopqrstuvwxyz0123456789_"
		if n == 2 {
			signs += "-"
		}
		if part == "" || len(part) > maxPart || strings.Trim(part, signs) != "" {
			return false
		}
	}
	return true
}

// Scope is the first part of a key.
func Scope(key string) string {
	scope, _, _ := strings.Cut(key, "/")
	return scope
}

// ownedBy joins a key and whose it is where people read it. No key holds a space.
const ownedBy = " of "

// Target names a fact where people read and vote: its key and, where it is not shared, whose it is.
func Target(holder, key string) string {
	if holder == "" {
		return key
	}
	return key + ownedBy + holder
}

// ParseTarget reads what Target has written.
func ParseTarget(target string) (holder, key string, ok bool) {
	key, holder, owned := strings.Cut(target, ownedBy)
	return holder, key, ValidKey(key) && owned == (holder != "")
}

// The sorts of sources that facts derive from. A source is one of them, a colon and a name, such as agent:builder.
const (
	fromAgent  = "agent:"
	fromRun    = "run:"
	fromSource = "source:"
)

// ValidSource reports whether a text names what facts may derive from.
func ValidSource(text string) bool {
	for _, sort := range []string{fromAgent, fromRun, fromSource} {
		if name, is := strings.CutPrefix(text, sort); is {
			return name != "" && len(name) <= maxName
		}
	}
	return false
}

// FromAgent is the source that an agent is.
func FromAgent(agent string) string { return fromAgent + agent }
