package call

import (
	"encoding/json"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/web"
)

// http analyses a request by its method, where it goes, and what it carries.
func (s callRun) http(args json.RawMessage) {
	object, ok := s.arguments("http", args)
	if !ok {
		return
	}
	folded := foldKeys(object)
	url, _ := textAt(folded, []string{"url", "uri", "href", "endpoint", "link"})
	if url == "" {
		s.Unknown("http", fact.TraitUnparsable)
		return
	}
	method, _ := textAt(folded, []string{"method", "verb"})
	body := ""
	for _, key := range []string{"body", "data", "payload", "json", "content"} {
		switch value := folded[key].(type) {
		case nil:
		case string:
			body += value
		default:
			encoded, _ := json.Marshal(value) // can't fail: it was decoded from JSON
			body += string(encoded)
		}
	}
	if method == "" {
		method = "GET"
		if body != "" {
			method = "POST"
		}
	}
	web.Request(&s.World, strings.ToUpper(method), url, web.HeaderTexts(folded["headers"]), body)
}
