package auditlog

import (
	"strconv"
	"strings"
)

// classified tells an event about a text.
func (t *telling) classified() {
	var text TextRecord
	if t.read("text", &text); text.Classification == "" {
		return
	}
	t.say(text.Classification+" by "+text.Rule, text.Where, strconv.Itoa(text.Found)+" found", strings.Join(text.Kinds, ", "))
}
