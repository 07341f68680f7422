package console

import (
	"net/http"
	"slices"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/ledger"
	"interlock/internal/webpush"
)

// A pushing is what the page of sessions says about notifications.
type pushing struct {
	Key      string // that this browser subscribes with
	Fault    string // why it can't be switched on
	Browsers []ledger.SubscriptionBody
}

// pushing is nil for who answers nothing, and where no messages are sent.
func (c *Console) pushing(r *http.Request) (*pushing, error) {
	if c.config.Push == nil || !c.may(r, answering) {
		return nil, nil
	}
	list, err := c.config.Backend.Subscriptions(r.Context())
	if err != nil {
		return nil, err
	}
	name := c.visitor(r).Operator.Name
	p := &pushing{Browsers: slices.DeleteFunc(list, func(one ledger.SubscriptionBody) bool { return one.Operator != name })}
	if p.Key, err = c.config.Push.PublicKey(); err != nil {
		p.Fault = err.Error()
	}
	return p, nil
}

// beginPush has a browser told of requests from now on. The log says so before it is.
func (c *Console) beginPush(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	browser := webpush.Browser{Name: v.Session.Browser, Endpoint: r.PostForm.Get("endpoint"), Key: r.PostForm.Get("p256dh"),
		Auth: r.PostForm.Get("auth")}
	id, err := c.config.Push.Check(r.Context(), v.Operator.Name, browser)
	if err == nil {
		err = c.config.Backend.RecordSession(r.Context(),
			auditlog.SessionRecord{Operator: v.Operator.Name, What: "subscribed", Reason: id + " is told of requests"})
	}
	if err == nil {
		err = c.config.Push.Begin(r.Context(), id, v.Operator, browser)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/sessions#notifications", http.StatusSeeOther)
}

// endPush has a browser told no more. It only takes away, so what is first done is to do it.
func (c *Console) endPush(w http.ResponseWriter, r *http.Request) {
	name, id := c.visitor(r).Operator.Name, r.PostForm.Get("id")
	if err := c.config.Push.End(r.Context(), id, name); err != nil {
		c.fail(w, r, err)
		return
	}
	c.record(r, name, "unsubscribed", id+" is told no more")
	http.Redirect(w, r, "/sessions#notifications", http.StatusSeeOther)
}

// tryPush sends a message that says that it is a test.
func (c *Console) tryPush(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	if !c.attempts.allow("push\x00" + v.Operator.Name) {
		c.fail(w, r, interlock.Errorf(interlock.CodeLimited, "", "too many tests at once; wait a moment"))
		return
	}
	if err := c.config.Push.Try(r.Context(), r.PostForm.Get("id"), v.Operator.Name); err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/sessions#notifications", http.StatusSeeOther)
}

// pushWorker is the script that shows messages when no page is open. It is kept beside the pages, so that it is theirs.
func (c *Console) pushWorker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	http.ServeFileFS(w, r, staticFiles, "static/push-worker.js")
}

// pushCheck is whether messages reach the browsers that are told.
func (c *Console) pushCheck(r *http.Request) check {
	one := check{Name: "Notifications", State: "good", Href: "/sessions#notifications"}
	list, err := c.config.Backend.Subscriptions(r.Context())
	if err != nil {
		one.State, one.Says = "warn", "it can't be told which browsers are told"
		return one
	}
	one.State, one.Says = PushHealth(list, func(t time.Time) string { return render.Ago(c.config.Now(), t) })
	return one
}

// PushHealth says how well messages reach browsers: good, warn or none, and in words.
func PushHealth(list []ledger.SubscriptionBody, when func(time.Time) string) (state, says string) {
	if len(list) == 0 {
		return "none", "no browser is told: who answers can switch it on under Sessions"
	}
	says = render.Numbered(len(list), "browser is", "browsers are") + " told"
	failing := slices.DeleteFunc(slices.Clone(list), func(one ledger.SubscriptionBody) bool { return one.Failed == 0 })
	if len(failing) == 0 {
		return "good", says
	}
	last := slices.MaxFunc(failing, func(a, b ledger.SubscriptionBody) int { return a.FailedAt.Compare(b.FailedAt) })
	return "warn", says + ", " + render.Numbered(len(failing), "of them isn't", "of them aren't") + " reached, last " +
		when(last.FailedAt) + ": " + last.Why
}
