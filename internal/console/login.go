package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/console/signin"
	"interlock/internal/identity"
)

// The first lines of what is signed to come in. No approval begins with them.
const (
	loginHeader  = "Interlock login, version 1\n"
	ticketHeader = "Interlock login ticket, version 1\n"
)

// The bounds of questions and tickets.
const (
	TicketLife = 5 * time.Minute
	maxTicket  = 16 << 10
)

// A Ticket lets an operator in once, in a browser that runs no script: it is signed by the operator's SSH key.
type Ticket struct {
	Operator  string    `json:"operator"`
	Nonce     string    `json:"nonce"`
	Issued    time.Time `json:"issued"`
	Signature string    `json:"signature,omitempty"`
}

// Statement is the text that is signed: it lets its operator in at one console, for a few minutes.
func (t Ticket) Statement(console string) string {
	return ticketHeader + "operator: " + strconv.QuoteToASCII(t.Operator) + "\nconsole: " + strconv.QuoteToASCII(console) +
		"\nnonce: " + strconv.QuoteToASCII(t.Nonce) + "\nissued: " + t.Issued.UTC().Format(time.RFC3339Nano) + "\n"
}

// Link is the address that uses the ticket.
func (t Ticket) Link(console string) (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("encoding a ticket: %w", err)
	}
	return console + "/login?ticket=" + base64.RawURLEncoding.EncodeToString(text), nil
}

func parseTicket(text string) (Ticket, error) {
	refused := interlock.Errorf(interlock.CodeInvalid, "ticket", "this is not a login link of `interlock operator login`")
	if len(text) > maxTicket {
		return Ticket{}, refused
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return Ticket{}, refused
	}
	var t Ticket
	if err := json.Unmarshal(raw, &t); err != nil || identity.CheckName("operator", t.Operator) != nil || len(t.Nonce) != 32 {
		return Ticket{}, refused
	}
	return t, nil
}

// loginForm is what the login page needs.
type loginForm struct {
	Nonce     string
	Challenge string // base64url, for the script
	Host      string
	Next      string
	Ticket    string // of a link, which only a click uses: browsers and mail scanners open links ahead
	Operator  string // of the ticket
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	form := loginForm{Host: c.host, Next: localPath(r.URL.Query().Get("next")), Ticket: r.URL.Query().Get("ticket")}
	if form.Ticket != "" {
		ticket, err := parseTicket(form.Ticket)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		form.Operator = ticket.Operator
	}
	nonce, text, err := c.asked.Ask(loginHeader, c.visitor(r).Binding)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	form.Nonce, form.Challenge = nonce, base64.RawURLEncoding.EncodeToString(identity.StatementChallenge(text))
	c.render(w, r, http.StatusOK, "login.html", "Log in", form)
}

// login lets in a person who proves to be an operator: by a passkey over the page's question, or by a ticket.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	prove, method := c.byPasskey, interlock.MethodPasskey
	if r.PostForm.Get("ticket") != "" {
		prove, method = c.byTicket, interlock.MethodSSH
	}
	operator, passkey, err := prove(r)
	if err != nil {
		c.turnedAway(w, r, operator.Name, err)
		return
	}
	c.enter(w, r, operator, method, passkey)
}

// turnedAway answers an attempt that proved nothing, and records one that had something to it. Forms that are broken or old leave
// nothing: anybody can send garbage, and garbage must not be able to fill the log. Only such attempts are counted, by address, and
// only after they were looked at: behind one address are all of this machine and all who come by a proxy, and those who bring
// what is right get in, however many others there have failed.
func (c *Console) turnedAway(w http.ResponseWriter, r *http.Request, operator string, cause error) {
	if !c.attempts.allow(source(r)) {
		cause = interlock.Errorf(interlock.CodeLimited, "",
			"too many attempts that proved nothing came from this address; wait a minute")
	} else if code := codeOf(cause); code == interlock.CodeUnauthorized || code == interlock.CodeConflict {
		c.record(r, operator, "refused", cause.Error())
	}
	c.fail(w, r, cause)
}

// enter begins a session. A browser that was signed in before gets another secret.
func (c *Console) enter(w http.ResponseWriter, r *http.Request, operator interlock.OperatorRecord, method, passkey string) {
	if v := c.visitor(r); v.In {
		c.sessions.End(v.Session.ID, v.Operator.Name)
	}
	began, secret, err := c.sessions.Begin(operator, method, passkey, r.UserAgent())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.setCookie(w, c.sessionCookie(), secret)
	c.record(r, operator.Name, "entered", began.ID+" by "+method)
	http.Redirect(w, r, localPath(r.PostForm.Get("next")), http.StatusSeeOther)
}

// byPasskey finds the operator whose passkey signed the question of this browser's login page, and the passkey's id.
func (c *Console) byPasskey(r *http.Request) (interlock.OperatorRecord, string, error) {
	asked := r.PostForm.Get("nonce")
	text, err := c.asked.Take(asked, loginHeader, c.visitor(r).Binding)
	if err != nil {
		return interlock.OperatorRecord{}, "", err
	}
	signature, err := identity.Assertion([]byte(r.PostForm.Get("assertion")), text)
	if err != nil {
		return interlock.OperatorRecord{}, "", err
	}
	operators, err := core.Operators(r.Context(), c.config.Backend)
	if err != nil {
		return interlock.OperatorRecord{}, "", err
	}
	for _, name := range slices.Sorted(maps.Keys(operators)) {
		operator := operators[name]
		if !inOffice(operator, c.config.Now()) {
			continue
		}
		if seen, err := identity.VerifyAssertion(operator, text, signature); err == nil {
			if err := c.asked.Answered(asked); err != nil {
				return interlock.OperatorRecord{}, "", err
			}
			return operator, seen.Passkey.ID, c.counted(r, operator, seen)
		}
	}
	return interlock.OperatorRecord{}, "",
		interlock.Errorf(interlock.CodeUnauthorized, "passkey",
			"this passkey is not registered here, or did not sign what was asked")
}

// counted refuses a signature from another page or from a copy of the passkey, and remembers the passkey's counter.
func (c *Console) counted(r *http.Request, operator interlock.OperatorRecord, seen identity.Asserted) error {
	if seen.Origin != c.origin {
		return interlock.Errorf(interlock.CodeUnauthorized, "passkey", "the signature was made for another site")
	}
	fresh := func(known interlock.Passkey) error {
		return identity.Asserted{Passkey: known, Counter: seen.Counter}.Fresh()
	}
	if err := fresh(seen.Passkey); err != nil {
		c.alert(r, operator.Name, err)
		return err
	}
	if seen.Counter == 0 {
		return nil
	}
	return c.config.Backend.UpdateOperator(r.Context(), operator.Name,
		func(o *interlock.OperatorRecord) error {
			for i := range o.Passkeys {
				if o.Passkeys[i].ID == seen.Passkey.ID {
					if err := fresh(o.Passkeys[i]); err != nil {
						return err
					}
					o.Passkeys[i].SignCount = seen.Counter
					return nil
				}
			}
			return interlock.Errorf(interlock.CodeUnauthorized, "passkey", "this passkey is not registered any more")
		})
}

// alert records what an operator should look at.
func (c *Console) alert(r *http.Request, operator string, cause error) {
	if _, err := c.config.Backend.RefuseApproval(r.Context(), "operator", operator, "", cause); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "an alert could not be recorded", "operator", operator)
	}
}

// byTicket checks a login link. It counts once in this process, and not at all if it is older than the process.
func (c *Console) byTicket(r *http.Request) (interlock.OperatorRecord, string, error) {
	ticket, err := parseTicket(r.PostForm.Get("ticket"))
	if err != nil {
		return interlock.OperatorRecord{}, "", err
	}
	now := c.config.Now()
	if ticket.Issued.Before(c.started) || now.Before(ticket.Issued.Add(-time.Minute)) || now.Sub(ticket.Issued) >= TicketLife {
		return interlock.OperatorRecord{}, "",
			interlock.Errorf(interlock.CodeExpired, "ticket", "this login link has expired; make another")
	}
	operator, err := c.operatorNamed(r.Context(), ticket.Operator)
	if err != nil {
		return interlock.OperatorRecord{}, "", fmt.Errorf("reading the operators: %w", err)
	}
	refused := interlock.Errorf(interlock.CodeUnauthorized, "ticket", "this login link is not signed by an operator's key")
	if !inOffice(operator, now) {
		return interlock.OperatorRecord{}, "", refused
	}
	key, err := c.config.Verify(operator, interlock.MethodSSH, ticket.Statement(c.origin), ticket.Signature)
	if factor, is := errors.AsType[*interlock.Error](err); is && factor.Field == "method" {
		return interlock.OperatorRecord{}, "", factor
	}
	if err != nil || key == "" {
		return interlock.OperatorRecord{}, "", refused
	}
	if !c.asked.Spend(ticketHeader+ticket.Nonce, ticket.Issued.Add(TicketLife)) {
		return interlock.OperatorRecord{}, "",
			interlock.Errorf(interlock.CodeConflict, "ticket", "this login link was used already; make another")
	}
	return operator, "", nil
}

func inOffice(operator interlock.OperatorRecord, now time.Time) bool {
	return operator.Name != "" && (operator.Revoked.IsZero() || now.Before(operator.Revoked))
}

// source is where a request comes from, for counting attempts.
func source(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// localPath is a path of this console and nothing else: an address elsewhere becomes the first page.
func localPath(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(target, "/") ||
		strings.HasPrefix(target, "//") || strings.ContainsAny(target, "\\\r\n\t") || strings.HasPrefix(target, "/login") {
		return "/"
	}
	return target
}

func escape(s string) string { return url.QueryEscape(s) }

// enrolHeader is the first line of what a new passkey is made over.
const enrolHeader = "Interlock enrolment, version 1\n"

// EnrolmentLife is how long a link to register a passkey may be used.
const EnrolmentLife = time.Hour

// maxPasskeys bounds an operator's passkeys.
const maxPasskeys = 10

// NewEnrolment returns what is stored of a one-time link, and its secret.
func NewEnrolment(random io.Reader, now time.Time) (interlock.Enrolment, string, error) {
	if random == nil {
		random = rand.Reader
	}
	var raw [32]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return interlock.Enrolment{}, "", fmt.Errorf("making an enrolment: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(raw[:])
	return interlock.Enrolment{Hash: enrolmentHash(secret), Expires: now.Add(EnrolmentLife).UTC()}, secret, nil
}

// EnrolmentLink is the address at which the secret registers a passkey. The secret comes after the #, so that it reaches
// no server's log on the way.
func EnrolmentLink(console, operator, secret string) string {
	return console + "/enrol?operator=" + url.QueryEscape(operator) + "#" + secret
}

func enrolmentHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// enrolForm is what the enrolment page needs.
type enrolForm struct {
	Operator   string
	UserID     string // base64url of what authenticators keep as the user's handle
	Nonce      string
	Challenge  string
	Host       string
	Algorithms []int64
}

// enrolPage asks for a passkey. It looks nothing up: a person who has no secret learns nothing here.
func (c *Console) enrolPage(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("operator")
	if err := identity.CheckName("operator", name); err != nil {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "operator",
			"this is not an enrolment link; `interlock operator add NAME --enrol` prints one"))
		return
	}
	nonce, text, err := c.asked.Ask(enrolHeader, c.visitor(r).Binding)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "enrol.html", "Register a passkey", enrolForm{Operator: name,
		UserID: base64.RawURLEncoding.EncodeToString([]byte("interlock:" + name)), Nonce: nonce,
		Challenge: base64.RawURLEncoding.EncodeToString(identity.StatementChallenge(text)), Host: c.host,
		Algorithms: identity.PasskeyAlgorithms()})
}

// enrol registers a passkey for the person who has the link's secret, once, and signs them in.
func (c *Console) enrol(w http.ResponseWriter, r *http.Request) {
	name := r.PostForm.Get("operator")
	operator, err := c.register(r, name)
	if err != nil {
		c.turnedAway(w, r, name, err)
		return
	}
	passkey := operator.Passkeys[len(operator.Passkeys)-1].ID
	c.record(r, name, "enrolled", "passkey "+passkey)
	c.enter(w, r, operator, interlock.MethodPasskey, passkey)
}

func (c *Console) register(r *http.Request, name string) (registered interlock.OperatorRecord, err error) {
	if err := identity.CheckName("operator", name); err != nil {
		return registered, err
	}
	text, err := c.asked.Take(r.PostForm.Get("nonce"), enrolHeader, c.visitor(r).Binding)
	if err != nil {
		return registered, err
	}
	now := c.config.Now().UTC()
	label := strings.TrimSpace(signin.Shortened(r.PostForm.Get("name")))
	if label == "" {
		label = "passkey"
	}
	passkey, err := identity.NewPasskey([]byte(r.PostForm.Get("credential")), identity.StatementChallenge(text), c.origin,
		c.host, label, now)
	if err != nil {
		return registered, err
	}
	hash := enrolmentHash(r.PostForm.Get("secret"))
	refused := interlock.Errorf(interlock.CodeUnauthorized, "secret",
		"this enrolment link is wrong, used or expired; ask for another")
	err = c.config.Backend.RegisterPasskey(r.Context(), name, passkey, func(o *interlock.OperatorRecord) error {
		if !inOffice(*o, now) || o.Enrolment == nil || !now.Before(o.Enrolment.Expires) ||
			subtle.ConstantTimeCompare([]byte(o.Enrolment.Hash), []byte(hash)) != 1 {
			return refused
		}
		if len(o.Passkeys) >= maxPasskeys {
			return interlock.Errorf(interlock.CodeLimited, "passkey", "this operator has %d passkeys already", maxPasskeys)
		}
		o.Enrolment = nil
		registered = *o
		registered.Passkeys = append(slices.Clone(o.Passkeys), passkey)
		return nil
	})
	if code := codeOf(err); code == interlock.CodeNotFound {
		err = refused // names are not for strangers to learn
	}
	return registered, err
}
