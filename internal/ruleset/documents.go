package ruleset

import (
	"interlock"
	"interlock/internal/strictjson"
)

// sources is the form in which the documents of a ruleset are kept together.
type sources struct {
	Defaults map[string]string `json:"defaults"`
	User     map[string]string `json:"user"`
}

// Documents writes the documents of a ruleset as one text, from which [FromDocuments] makes the same ruleset again.
func Documents(defaults, user map[string][]byte) ([]byte, error) {
	s := sources{Defaults: map[string]string{}, User: map[string]string{}}
	for path, text := range defaults { // order-independent: fills a map
		s.Defaults[path] = string(text)
	}
	for path, text := range user { // order-independent: fills a map
		s.User[path] = string(text)
	}
	return strictjson.Marshal(s)
}

// FromDocuments makes the ruleset whose documents [Documents] has written, or refuses a text that is none or makes another.
func FromDocuments(text []byte, want interlock.Digest) (*Ruleset, error) {
	var s sources
	if err := strictjson.DecodeTrusted(text, &s); err != nil {
		return nil, err
	}
	defaults, user := map[string][]byte{}, map[string][]byte{}
	for path, text := range s.Defaults { // order-independent: fills a map
		defaults[path] = []byte(text)
	}
	for path, text := range s.User { // order-independent: fills a map
		user[path] = []byte(text)
	}
	r, err := Load(defaults, user)
	if err != nil {
		return nil, err
	}
	if want != "" && r.Digest() != want {
		return nil, interlock.Errorf(interlock.CodeInvalid, "ruleset", "the recorded text is of the ruleset %s, not of %s",
			r.Digest(), want)
	}
	return r, nil
}
