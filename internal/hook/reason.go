package hook

import (
	"strings"
	"unicode/utf8"

	"interlock"
	"interlock/internal/advice"
)

// explain is the text an agent or its user reads about answers that are not Allow: rule id, one sentence, a tested
// alternative, and for a question nobody at the harness can answer how a human answers it. The strictest answer is
// explained; trial is the command that makes the dry run a rule wants; requests holds every approval request that
// must be answered before the call can pass; always is the one that a standing yes could answer. Commands name the home, if it has
// to be named.
func explain(strictest interlock.Answer, trial string, requests []string, always, home string, redact func(string) string) string {
	var b strings.Builder
	if f := strictest.Decisive(); f != nil {
		b.WriteString("[" + f.Rule + "] " + sentence(f.Reason))
		if f.Suggestion != "" {
			b.WriteString(" Try: " + sentence(advice.Commands(f.Suggestion, home)))
		}
	} else {
		b.WriteString("[admission.no-reason] The call was not allowed.")
	}
	if trial != "" && len(requests) > 0 {
		b.WriteString(" A human must try it first: " + advice.Commands(trial, home) + ".")
	}
	if len(requests) > 0 {
		answer := "interlock approve " + strings.Join(requests, " && interlock approve ")
		b.WriteString(" A human must say yes first: " + advice.Commands(answer, home) + " and then repeat exactly this call.")
	}
	if always != "" {
		b.WriteString(" Not to be asked this again here: " + advice.Commands("interlock allow "+always, home))
	}
	return presentable(b.String(), redact)
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// presentable makes a text safe to show: no control or reordering characters that could hide or reshape it, no secrets,
// bounded. Characters go first, so that they can't split a secret from the redactor.
func presentable(s string, redact func(string) string) string {
	s = printable(s)
	if redact != nil {
		s = redact(s)
	}
	return cut(s, MaxReason)
}

// cut bounds a text to n bytes at a character boundary.
func cut(s string, n int) string {
	const more = "…"
	if len(s) <= n {
		return s
	}
	end := n - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// printable removes control, zero-width and bidirectional characters; line ends and tabs become spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == 0x2028 || r == 0x2029:
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, // C0, DEL, C1
			r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff,
			r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
			r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
