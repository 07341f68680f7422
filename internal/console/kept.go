package console

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/console/render"
)

// The bounds of the filters that a browser keeps for an operator: they go with every request.
const (
	maxKept     = 12
	maxKeptSize = 2000 // bytes, as the cookie is written
	maxKeptName = 160  // bytes
	keptFor     = 365 * 24 * time.Hour
)

// A link is a filter that is one click away.
type link struct {
	Name string
	Href string
	Here bool
}

// A keptFilter is one that an operator has given a name. It lies in their browser and nowhere else.
type keptFilter struct {
	Path  string `json:"p"`
	Query string `json:"q"`
	Name  string `json:"n"`
}

// A shelfOf is what a page with a filter shows of those that are ready and those that are kept.
type shelfOf struct {
	Path  string
	Query string // that a form would keep where its browser does not say where it comes from
	Ready []link
	Kept  []ownLink
}

// An ownLink is a kept filter with its number, by which it is forgotten.
type ownLink struct {
	link
	Number int
}

// filtered are the pages whose filter can be kept, and which fields of their addresses are of it.
func filtered(path string) (fields []string, known bool) {
	switch path {
	case "/feed":
		fields = []string{"verdict", "kind", "agent", "rule", "q", "since", "until"}
	case "/pending":
		fields = []string{"agent", "project", "rule", "q", "age"}
	case "/agents":
		fields = []string{"q", "standing", "since", "until"}
	case "/rules":
		fields = []string{"q", "verdict", "from", "since", "until"}
	case "/audit":
		fields = []string{"type", "actor", "run", "q", "since", "until"}
	}
	return fields, len(fields) > 0
}

// ready are the filters that a page offers by itself.
func ready(path string, now time.Time) (links []link) {
	since := func(d time.Duration) string { return fieldTime(now.Add(-d).Truncate(time.Hour)) }
	add := func(name string, pairs ...string) {
		query := url.Values{}
		for i := 0; i+1 < len(pairs); i += 2 {
			query.Set(pairs[i], pairs[i+1])
		}
		links = append(links, link{Name: name, Href: address(path, query)})
	}
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	switch path {
	case "/feed":
		add("Denied today", "verdict", "deny", "since", since(day))
		add("Asked this week", "verdict", "ask", "since", since(week))
		add("Halted", "verdict", "halt")
	case "/pending":
		add("Just came in", "age", "minute")
		add("Over an hour old", "age", "older")
	case "/agents":
		add("Paused or blocked", "standing", "held")
		add("Waiting for an answer", "standing", "waiting")
		add("Active today", "since", since(day))
		add("Not registered", "standing", "unregistered")
	case "/rules":
		add("Spoke this week", "since", since(week))
		add("Yours", "from", "yours")
		add("Kept silent", "from", "silent")
		add("Denying", "verdict", "deny")
	case "/audit":
		add("Answers this week", "type", string(interlock.EventApproval), "since", since(week))
		add("Alerts", "type", string(interlock.EventAlert))
		add("Who was added or revoked", "type", string(interlock.EventIdentity))
		add("Rules that changed", "type", string(interlock.EventRuleset))
	}
	return links
}

// keptCookie is where a browser keeps an operator's filters: one cookie for each who uses it.
func (c *Console) keptCookie(operator string) string {
	sum := sha256.Sum256([]byte(operator))
	return c.cookieName("interlock-filters-" + hex.EncodeToString(sum[:6]))
}

// keptBy are the filters that the browser has for who is signed in. What can't be read is none.
func (c *Console) keptBy(r *http.Request, operator string) (list []keptFilter) {
	cookie, err := r.Cookie(c.keptCookie(operator))
	if err != nil || len(cookie.Value) > maxKeptSize {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil
	}
	return slices.DeleteFunc(list[:min(len(list), maxKept)], func(k keptFilter) bool {
		_, known := filtered(k.Path)
		return !known || k.Name == "" || len(k.Name) > maxKeptName || !shows(k.Name)
	})
}

// shelf is what a page shows of filters; nil where it has none.
func (c *Console) shelf(r *http.Request, operator string) *shelfOf {
	if _, known := filtered(r.URL.Path); !known || r.Method != http.MethodGet {
		return nil
	}
	now := asFilter(r.URL.Path, r.URL.Query())
	s := &shelfOf{Path: r.URL.Path, Query: now.Encode(), Ready: ready(r.URL.Path, c.config.Now())}
	for i := range s.Ready {
		s.Ready[i].Here = s.Ready[i].Href == address(s.Path, now)
	}
	for i, k := range c.keptBy(r, operator) {
		query, err := url.ParseQuery(k.Query)
		if k.Path != s.Path || err != nil {
			continue
		}
		href := address(k.Path, asFilter(k.Path, query))
		s.Kept = append(s.Kept, ownLink{link{k.Name, href, href == address(s.Path, now)}, i})
	}
	return s
}

// asFilter is what of a query is the page's filter, and not where in its list it is.
func asFilter(path string, query url.Values) url.Values {
	fields, _ := filtered(path)
	out := url.Values{}
	for _, field := range fields {
		if text := query.Get(field); text != "" && len(text) <= render.MaxFilter {
			out.Set(field, text)
		}
	}
	return out
}

// keepFilter gives the filter that the form's page has a name, or forgets one. Nothing of it reaches the store.
func (c *Console) keepFilter(w http.ResponseWriter, r *http.Request) {
	operator, _ := c.operator(r)
	path := r.PostForm.Get("path")
	if _, known := filtered(path); !known {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "path", "this page has no filter"))
		return
	}
	list := c.keptBy(r, operator.Name)
	next := path
	if number := r.PostForm.Get("forget"); number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= len(list) {
			c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "forget", "this browser keeps no such filter; load the page again"))
			return
		}
		list = slices.Delete(list, n, n+1)
	} else {
		query := c.filterBefore(r, path)
		one, err := keepable(path, r.PostForm.Get("name"), query)
		if err == nil && len(list) >= maxKept {
			err = interlock.Errorf(interlock.CodeLimited, "name", "this browser keeps %d filters already; forget one first", maxKept)
		}
		if err != nil {
			c.fail(w, r, err)
			return
		}
		list = append(slices.DeleteFunc(list, func(k keptFilter) bool { return k.Path == path && k.Name == one.Name }), one)
		next = address(path, query)
	}
	text, err := json.Marshal(list)
	value := base64.RawURLEncoding.EncodeToString(text)
	if err == nil && len(value) > maxKeptSize {
		err = interlock.Errorf(interlock.CodeLimited, "name", "there is no room for it in this browser; forget one first")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: c.keptCookie(operator.Name), Value: value, Path: "/", MaxAge: int(keptFor / time.Second),
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// filterBefore is the filter of the page that a form was sent from: a filter that answers while one types changes the page's address,
// and not the form. A browser that does not say where it comes from has the one its page was made with.
func (c *Console) filterBefore(r *http.Request, path string) url.Values {
	if from, err := url.Parse(r.Referer()); err == nil && from.Scheme+"://"+from.Host == c.origin && from.Path == path {
		return asFilter(path, from.Query())
	}
	query, err := url.ParseQuery(r.PostForm.Get("query"))
	if err != nil {
		return url.Values{}
	}
	return asFilter(path, query)
}

// shows reports whether every character of a text shows as itself.
func shows(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !core.Shows(r) || r == unicode.ReplacementChar })
}

// keepable is a filter as it is kept. One without a name is called by what it looks for.
func keepable(path, name string, query url.Values) (keptFilter, error) {
	if len(query) == 0 {
		return keptFilter{}, interlock.Errorf(interlock.CodeInvalid, "name", "nothing is filtered; set the filter first, and keep it then")
	}
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		var parts []string
		for _, field := range []string{"verdict", "kind", "type", "standing", "from", "agent", "project", "actor", "run", "rule", "q", "age",
			"since", "until"} {
			if text := query.Get(field); text != "" {
				parts = append(parts, text)
			}
		}
		name = render.Shorten(strings.Join(parts, ", "), maxKeptName/4-1)
	}
	if len(name) > maxKeptName || !shows(name) {
		return keptFilter{}, interlock.Errorf(interlock.CodeInvalid, "name", "is longer than %d bytes, or holds what does not show", maxKeptName)
	}
	return keptFilter{Path: path, Query: query.Encode(), Name: name}, nil
}
