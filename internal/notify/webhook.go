package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/notice"
)

// The headers of a signed webhook.
const (
	timestampHeader = "Interlock-Timestamp" // seconds since 1970
	signatureHeader = "Interlock-Signature" // "v1=" and the hexadecimal HMAC-SHA256 of timestamp, "." and the body
)

// minKey is the shortest key that signs, in bytes.
const minKey = 16

// webhook posts a notice as JSON, signed so that the receiver knows whom it comes from and when.
type webhook struct {
	*client
	key notice.Secret
	now func() time.Time
}

func newWebhook(s Settings, c Config) (channel, error) {
	if s.Key == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key",
			"is missing; name the key that signs what is sent, as env:NAME or file:PATH")
	}
	key, err := secret("key", s.Key, c.Getenv)
	if err != nil {
		return nil, err
	}
	if len(key) < minKey {
		return nil, interlock.Errorf(interlock.CodeInvalid, "key", "is shorter than %d characters", minKey)
	}
	to, err := newClient("url", s.URL, c)
	return webhook{client: to, key: key, now: c.Now}, err
}

// webhookWire is the body of a webhook. Its names are part of the contract with receivers.
type webhookWire struct {
	Version   int       `json:"version"`
	Kind      string    `json:"kind"`
	Severity  string    `json:"severity"`
	Agent     string    `json:"agent"`
	Principal string    `json:"principal,omitempty"`
	Run       string    `json:"run,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Display   string    `json:"display,omitempty"`
	Challenge string    `json:"challenge,omitempty"`
	Request   string    `json:"request,omitempty"`
	Harness   bool      `json:"harness,omitempty"`
	Status    string    `json:"status,omitempty"` // of kind answered: approved, denied, expired or settled
	Code      string    `json:"code,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
}

func (w webhook) send(ctx context.Context, n notice.Notice) error {
	body, err := json.Marshal(webhookWire{Version: 1, Kind: n.Kind, Severity: n.Severity.String(), Agent: n.Requester.Agent,
		Principal: n.Requester.Principal, Run: n.Requester.Run, Rule: n.Rule, Reason: n.Reason, Display: n.Display,
		Challenge: n.Challenge, Request: n.Request, Harness: n.Harness, Status: n.Status, Code: n.Code.Reveal(), Expires: n.Expires})
	if err != nil {
		return errors.New("the notice can't be written as JSON")
	}
	at := strconv.FormatInt(w.now().Unix(), 10)
	return w.post(ctx, body, map[string]string{"Content-Type": "application/json", timestampHeader: at,
		signatureHeader: "v1=" + sign(w.key, at, body)})
}

func sign(key notice.Secret, at string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
