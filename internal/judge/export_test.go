package judge

import "net/http"

// What tests look at from outside.
var (
	ParseAnswer = parseAnswer
	Fence       = fence
	Clean       = clean
)

// LooksElsewhere reports whether a client has a proxy or keeps cookies. Go reads the environment once per process, so no test that
// sets a variable could tell.
func LooksElsewhere(c *Client) bool {
	return c.http.Transport.(*http.Transport).Proxy != nil || c.http.Jar != nil
}

// Request is what a client sends for a question, as a value that is written as JSON whole.
func Request(c *Client, question string) any {
	return c.form.request(c.config, prefix(c.config.Ground), question)
}
