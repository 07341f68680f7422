package console

import (
	"net/http"

	"interlock/internal/console/render"
)

// privacyPage shows who permitted what to be kept, what people asked for, and what was deleted.
func (c *Console) privacyPage(w http.ResponseWriter, r *http.Request) {
	page, err := render.PrivacyOf(r.Context(), c.config.Backend, c.config.Log, c.config.Now())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "privacy.html", "Privacy", page)
}

// memoryPage lists what agents keep, without its values.
func (c *Console) memoryPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	filter := render.MemoryFilter{Q: render.Shorten(query.Get("q"), render.MaxFilter), Store: query.Get("store"), State: query.Get("state")}
	page, err := render.MemoryOf(r.Context(), c.config.Backend, filter, c.config.Now())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "memory.html", "Memory", page)
}
