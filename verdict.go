package interlock

import "fmt"

// A Verdict is what a finding argues for and what a decision binds to. The zero value denies.
type Verdict uint8

// The four verdicts. Their numbers carry no order; [Stricter] does.
const (
	Deny  Verdict = iota // the action must not run
	Allow                // the action may run
	Ask                  // a human must say yes first
	Halt                 // the action must not run and the agent must stop
)

var verdictNames = [...]string{Deny: "deny", Allow: "allow", Ask: "ask", Halt: "halt"}

// strictness orders the verdicts Allow < Ask < Deny < Halt. An unknown verdict is as strict as Halt.
func (v Verdict) strictness() int {
	switch v {
	case Allow:
		return 0
	case Ask:
		return 1
	case Deny:
		return 2
	default:
		return 3
	}
}

// Stricter returns the stricter of two verdicts: Allow < Ask < Deny < Halt.
func Stricter(a, b Verdict) Verdict {
	if b.strictness() > a.strictness() {
		return b
	}
	return a
}

// Compare is negative when v is looser than w, positive when it is stricter and zero when they are equally strict.
func (v Verdict) Compare(w Verdict) int { return v.strictness() - w.strictness() }

// Allowed reports whether v is exactly Allow.
func (v Verdict) Allowed() bool { return v == Allow }

// String returns "deny", "allow", "ask" or "halt".
func (v Verdict) String() string { return name(verdictNames[:], int(v)) }

// MarshalText writes the name; an out-of-range verdict is an error.
func (v Verdict) MarshalText() ([]byte, error) {
	return marshalName(verdictNames[:], int(v), "verdict")
}

// UnmarshalText accepts exactly the four names; anything else is an error and leaves Deny.
func (v *Verdict) UnmarshalText(text []byte) error {
	n, err := unmarshalName(verdictNames[:], text, "verdict")
	*v = Verdict(n)
	return err
}

// name, marshalName and unmarshalName serve every closed enumeration of the vocabulary: unknown text is an error, never
// a default, and an out-of-range value prints as what it is.
func name(names []string, n int) string {
	if n < 0 || n >= len(names) {
		return fmt.Sprintf("unknown(%d)", n)
	}
	return names[n]
}

func marshalName(names []string, n int, what string) ([]byte, error) {
	if n < 0 || n >= len(names) {
		return nil, fmt.Errorf("interlock: %d is not a %s", n, what)
	}
	return []byte(names[n]), nil
}

func unmarshalName(names []string, text []byte, what string) (int, error) {
	for n, s := range names {
		if s == string(text) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %.40q, want one of %q", what, text, names)
}
