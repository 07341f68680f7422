package httpapi

import (
	"bytes"
	"encoding/json"
	"slices"

	"interlock"
	"interlock/internal/strictjson"
)

// appendAnswer writes an answer as encoding/json would, with empty lists instead of null. Every decision passes here, so that is
// written by its plan; a test holds it against the general encoder.
func appendAnswer(b []byte, a *interlock.Answer) []byte {
	if out, ok := strictjson.AppendDeclared(b, a); ok {
		return out
	}
	whole := *a
	whole.Findings = append([]interlock.Finding{}, a.Findings...)
	whole.Impacts = append([]interlock.Impact{}, a.Impacts...)
	text := bytes.NewBuffer(slices.Clip(b))
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(whole) != nil {
		return append(b, "{}"...) // unreachable: an answer holds nothing that can't be written, and no verdict is no yes
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
