package console

import (
	"bytes"
	"net/http"
)

// warnings are what is wrong now, as text: the pages escape it.
func (c *Console) warnings() []string {
	if c.config.Warnings == nil {
		return nil
	}
	return c.config.Warnings()
}

// warningsPart is the part of every page that says what is wrong, which a page that is open asks for again and again.
func (c *Console) warningsPart(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.operator(r); !ok {
		w.WriteHeader(http.StatusNoContent) // the page stays as it is, and says on the next click that the session has ended
		return
	}
	var b bytes.Buffer
	if err := c.pages["system.html"].ExecuteTemplate(&b, "warnings", c.warnings()); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "a part of a page could not be made", "part", "warnings", "error", err.Error())
		http.Error(w, "it can't be told what is wrong", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}
