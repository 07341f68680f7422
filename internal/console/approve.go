package console

import (
	"errors"
	"net/http"

	"interlock"
)

func codeOf(err error) interlock.Code {
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func (c *Console) pendingPage(w http.ResponseWriter, r *http.Request) {
	requests, err := c.config.Backend.Requests(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "pending.html", "Pending", requests)
}
