// Package classify says what text holds that must not go further: secrets now; personal data and injected instructions
// are to follow here.
//
// It is a function of its argument: it reads no file, no clock and no network. The detectors of secrets are those of
// package secret, which the impact analysis uses too; start there to add one.
package classify

import "interlock/internal/secret"

// Redacted stands in a redacted text where a secret was.
const Redacted = secret.Marker

// Redact returns text with every secret replaced by [Redacted], and the kinds found, sorted and without repeats.
// Redacting twice is redacting once.
func Redact(text string) (redacted string, kinds []string) { return secret.Redact(text) }
