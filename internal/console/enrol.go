package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/identity"
)

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

// EnrolmentLink is the address at which the secret registers a passkey. The secret stands behind the #, so that it reaches
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

// enrolPage asks for a passkey. It looks nothing up: whoever has no secret learns nothing here.
func (c *Console) enrolPage(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("operator")
	if err := identity.CheckName("operator", name); err != nil {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "operator",
			"this is not an enrolment link; `interlock operator add NAME --enrol` prints one"))
		return
	}
	nonce, text, err := c.asked.ask(enrolHeader, c.visitor(r).binding)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "enrol.html", "Register a passkey", enrolForm{Operator: name,
		UserID: base64.RawURLEncoding.EncodeToString([]byte("interlock:" + name)), Nonce: nonce,
		Challenge: base64.RawURLEncoding.EncodeToString(identity.StatementChallenge(text)), Host: c.host,
		Algorithms: identity.PasskeyAlgorithms()})
}

// enrol registers a passkey for whoever has the link's secret, once, and signs them in.
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
	text, err := c.asked.take(r.PostForm.Get("nonce"), enrolHeader, c.visitor(r).binding)
	if err != nil {
		return registered, err
	}
	now := c.config.Now().UTC()
	label := strings.TrimSpace(shortened(r.PostForm.Get("name")))
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
