package console

import (
	"context"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/console/signin"
	"interlock/internal/quorum"
)

func (c *Console) visitor(r *http.Request) signin.Visitor {
	v, _ := r.Context().Value(signin.VisitorKey{}).(signin.Visitor)
	return v
}

// operator returns who is signed in, as the record is now.
func (c *Console) operator(r *http.Request) (interlock.OperatorRecord, bool) {
	v := c.visitor(r)
	return v.Operator, v.In
}

// sessionCookie and visitCookie are prefixed where pages come over TLS, so that no neighbouring host can set them.
func (c *Console) sessionCookie() string { return c.cookieName("interlock") }
func (c *Console) visitCookie() string   { return c.cookieName("interlock-visit") }

func (c *Console) cookieName(name string) string {
	if c.secure {
		return "__Host-" + name
	}
	return name
}

func (c *Console) setCookie(w http.ResponseWriter, name, value string) {
	age := 0
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.secure,
		SameSite: http.SameSiteStrictMode})
}

// recognise finds out who a request comes from. The operator's record is read again each time, so that a revocation holds at
// once.
func (c *Console) recognise(w http.ResponseWriter, r *http.Request) *http.Request {
	var v signin.Visitor
	if cookie, err := r.Cookie(c.sessionCookie()); err == nil {
		v = c.returning(w, r, cookie.Value)
	}
	if !v.In {
		v = signin.Visitor{Binding: c.visit(w, r)}
	}
	return r.WithContext(context.WithValue(r.Context(), signin.VisitorKey{}, v))
}

// returning is the visitor a session's secret belongs to; nobody, if it counts no longer.
func (c *Console) returning(w http.ResponseWriter, r *http.Request, secret string) signin.Visitor {
	found, stolen := c.sessions.Find(secret, r.UserAgent())
	if stolen {
		c.setCookie(w, c.sessionCookie(), "")
		c.record(r, found.Operator, "refused", "a session came from another browser than it began in, and was ended")
		_, err := c.config.Backend.RefuseApproval(r.Context(), "operator", found.Operator, "",
			interlock.Errorf(interlock.CodeUnauthorized, "session",
				"a session was used from another browser than it began in"))
		if err != nil {
			c.config.Logger.ErrorContext(r.Context(), "a stolen session could not be recorded", "operator", found.Operator)
		}
		return signin.Visitor{}
	}
	if found.ID == "" {
		c.setCookie(w, c.sessionCookie(), "")
		return signin.Visitor{}
	}
	operator, err := c.operatorNamed(r.Context(), found.Operator)
	if err != nil {
		c.config.Logger.ErrorContext(r.Context(), "the operators can't be read", "error", err.Error())
		return signin.Visitor{}
	}
	if why := c.over(found, operator); why != "" {
		c.sessions.End(found.ID, found.Operator)
		c.setCookie(w, c.sessionCookie(), "")
		c.record(r, found.Operator, "ended", why)
		return signin.Visitor{}
	}
	return signin.Visitor{Session: found, Operator: operator, In: true, Binding: "session " + secret}
}

// over says why a session counts no longer, as its operator's record is now; empty: it does.
func (c *Console) over(s signin.Session, operator interlock.OperatorRecord) string {
	switch {
	// a successor of the same name is another person
	case !inOffice(operator, c.config.Now()) || !operator.Created.Equal(s.Since):
		return "the operator is revoked"
	case s.Passkey != "" && !hasPasskey(operator, s.Passkey):
		return "the passkey it began with was removed"
	}
	return ""
}

// visit is a random value of a browser that is not signed in, to bind its forms to.
func (c *Console) visit(w http.ResponseWriter, r *http.Request) string {
	if cookie, err := r.Cookie(c.visitCookie()); err == nil && len(cookie.Value) == 22 {
		return "visit " + cookie.Value
	}
	var raw [16]byte
	if _, err := io.ReadFull(c.config.Random, raw[:]); err != nil {
		return "" // no token is made for nothing, so forms are refused
	}
	value := base64.RawURLEncoding.EncodeToString(raw[:])
	c.setCookie(w, c.visitCookie(), value)
	return "visit " + value
}

// signedIn lets operators through and sends everybody else to the login page.
func (c *Console) signedIn(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if operator, ok := c.operator(r); ok {
			if err := c.audited(r, operator); err != nil {
				c.fail(w, r, err)
				return
			}
			next(w, r)
			return
		}
		// A live page's stream has nobody to show a login page to.
		if r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Accept") == "text/event-stream" {
			c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "session", "the session has ended; log in again"))
			return
		}
		http.Redirect(w, r, "/login?next="+escape(r.URL.RequestURI()), http.StatusSeeOther)
	})
}

// record leaves an event about who came and went. One that can't be written is logged: nothing was allowed by it.
func (c *Console) record(r *http.Request, operator, what, reason string) {
	if err := c.config.Backend.RecordSession(r.Context(),
		auditlog.SessionRecord{Operator: operator, What: what, Reason: reason}); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "a session event could not be recorded", "operator", operator, "what", what)
	}
}

func (c *Console) sessionsPage(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	push, err := c.pushing(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "sessions.html", "Sessions", struct {
		Sessions []signin.Session
		Passkeys []interlock.Passkey
		Push     *pushing
	}{c.sessions.Of(v.Operator.Name, v.Session.ID), v.Operator.Passkeys, push})
}

func (c *Console) endSession(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	id := r.PostFormValue("id")
	if !c.sessions.End(id, v.Operator.Name) {
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "id", "no session of yours has this id"))
		return
	}
	c.record(r, v.Operator.Name, "ended", id+" was ended by its operator")
	http.Redirect(w, r, "/sessions", http.StatusSeeOther)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	c.sessions.End(v.Session.ID, v.Operator.Name)
	c.setCookie(w, c.sessionCookie(), "")
	c.record(r, v.Operator.Name, "left", "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func hasPasskey(operator interlock.OperatorRecord, id string) bool {
	return slices.ContainsFunc(operator.Passkeys, func(p interlock.Passkey) bool { return p.ID == id })
}

// RemovePasskey is the change that takes one passkey from an operator; see [interlock.OperatorRecord]. keepWayIn refuses to take
// the last credential.
func RemovePasskey(id string, keepWayIn bool) func(*interlock.OperatorRecord) error {
	return func(o *interlock.OperatorRecord) error {
		rest := slices.DeleteFunc(slices.Clone(o.Passkeys), func(p interlock.Passkey) bool { return p.ID == id })
		switch {
		case len(rest) == len(o.Passkeys):
			return interlock.Errorf(interlock.CodeNotFound, "id", "this operator has no passkey with this id")
		case keepWayIn && len(rest) == 0 && o.SSHKey == "":
			return interlock.Errorf(interlock.CodeConflict, "id",
				"this is the only way in; register another passkey first, or have an admin remove this one")
		}
		o.Passkeys = rest
		return nil
	}
}

// removePasskey takes one of the visitor's own passkeys away. It only tightens, so the session's word is enough; the last way in
// it does not take, so that a stolen session can't lock its operator out.
func (c *Console) removePasskey(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	id := r.PostForm.Get("id")
	if err := c.config.Backend.UpdateOperator(r.Context(), v.Operator.Name, RemovePasskey(id, true)); err != nil {
		c.fail(w, r, err)
		return
	}
	c.record(r, v.Operator.Name, "removed", "passkey "+id)
	http.Redirect(w, r, "/sessions", http.StatusSeeOther)
}

// settingsSays says what an order about the settings does, with what it binds by digest: the signer sees it whole.
func settingsSays(order quorum.Given) string {
	departures, err := governance.DeparturesOf(order.Detail, order.Aside)
	if err != nil || len(departures) == 0 { // it was read before it was shown
		return "All settings are the default; weaker ones that are written somewhere have no effect."
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(departures)) {
		said = append(said, name+": "+string(departures[name]))
	}
	return "These settings count as ordered, and all others are the default; weaker ones that are written somewhere have no effect. " +
		strings.Join(said, "; ")
}
