package webpush

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/webpush/pushtest"
)

func raw(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheExampleOfTheRFC: the example of RFC 8291, section 5, comes out byte for byte.
func TestTheExampleOfTheRFC(t *testing.T) {
	public, err := ecdh.P256().NewPublicKey(raw(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := ecdh.P256().NewPrivateKey(raw(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := sealWith(target{public: public, auth: raw(t, "BTBZMqHH6r4Tts7J_aSIgg")}, []byte("When I grow up, I want to be a watermelon"), 0, own,
		raw(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	want := "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_" +
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if got := base64.RawURLEncoding.EncodeToString(body); err != nil || got != want {
		t.Errorf("sealed as %s, %v", got, err)
	}
}

// rows are kept in memory.
type rows struct {
	mu  sync.Mutex
	all map[string]ledger.SubscriptionBody
}

func (r *rows) Subscriptions(context.Context) (list []ledger.SubscriptionBody, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if one.Stands(time.Now()) {
			list = append(list, one)
		}
	}
	return list, nil
}

func (r *rows) NoteSubscription(_ context.Context, id string, change func(ledger.SubscriptionBody) ledger.SubscriptionBody) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := change(r.all[id]); now.ID != "" {
		r.all[id] = now
	}
	return nil
}

// A desk is a sender, an operator and one browser of theirs.
type desk struct {
	*Sender
	*pushtest.Receiver
	rows     *rows
	olga     interlock.OperatorRecord
	inOffice bool
	id       string
}

func newDesk(t *testing.T, hosts ...string) *desk {
	t.Helper()
	receiver, err := pushtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(receiver.Close)
	d := &desk{Receiver: receiver, rows: &rows{all: map[string]ledger.SubscriptionBody{}}, inOffice: true,
		olga: interlock.OperatorRecord{Name: "olga", Created: time.Now().Add(-time.Hour)}}
	secret, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(d.Certificate())
	d.Sender = NewSender(Config{Rows: d.rows, Key: func() (Key, error) { return key, nil }, Contact: "mailto:a@example.com", Hosts: hosts,
		Now: time.Now, Roots: roots, InOffice: func(_ context.Context, name string, since time.Time) (bool, error) {
			return d.inOffice && name == d.olga.Name && since.Equal(d.olga.Created), nil
		}})
	return d
}

func (d *desk) browser() Browser {
	key, auth := d.Keys()
	return Browser{Name: "a phone", Endpoint: d.Endpoint(), Key: key, Auth: auth + "=="} // some write it with padding
}

// told is what has arrived, held against who was to send it.
func (d *desk) told(t *testing.T) (list []Message) {
	t.Helper()
	key, err := d.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int]bool{}
	got, _ := d.Got()
	for _, one := range got {
		var m Message
		if err := json.Unmarshal(one.Plain, &m); err != nil || one.Fault != nil || one.Key != key || one.Claims.Subject != "mailto:a@example.com" {
			t.Errorf("%v %v %+v", err, one.Fault, one)
		}
		if sizes[one.Size] = true; len(sizes) > 1 {
			t.Errorf("their lengths tell them apart: %v", sizes)
		}
		list = append(list, m)
	}
	return list
}

func (d *desk) begin(t *testing.T) {
	t.Helper()
	var err error
	if d.id, err = d.Check(t.Context(), "olga", d.browser()); err == nil {
		err = d.Begin(t.Context(), d.id, d.olga, d.browser())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func waiting() interlock.ApprovalRequest {
	return interlock.ApprovalRequest{ID: "apr_0123456789ab", Rule: "git.force-push", Requester: interlock.Requester{Agent: "builder\u202e"},
		Display: "kind: shell\ndir: /home/dana/shop\n\ngit push --force origin secret-branch", Reason: "of secret-branch",
		Created: time.Now().Add(time.Minute), Expires: time.Now().Add(10 * time.Minute)}
}

// TestABrowserIsTold: what arrives is what was meant, for that browser alone, and nothing of the command is in it.
func TestABrowserIsTold(t *testing.T) {
	d := newDesk(t, "127.0.0.1")
	d.begin(t)
	if failed := d.Tell(t.Context(), Asks(waiting(), "a forced push replaces what others have fetched")); len(failed) > 0 {
		t.Fatal(failed)
	}
	want := Message{Kind: "asks", Title: "Interlock asks: git.force-push",
		Body: "builder\ufffd in shop: a forced push replaces what others have fetched",
		Tag:  "apr_0123456789ab", Path: "/pending/apr_0123456789ab"}
	if got := d.told(t); len(got) != 1 || got[0] != want {
		t.Fatalf("told %+v", got)
	}
	got, _ := d.Got()
	if h := got[0].Header; h.Get("Topic") != want.Tag || len(h.Get("TTL")) != 3 || h.Get("Urgency") != "high" ||
		h.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("with %v", h)
	}
	for _, m := range []Message{Answered(waiting(), "approved by ada"), Many(12, waiting())} {
		if failed := d.Tell(t.Context(), m); len(failed) > 0 {
			t.Fatal(failed)
		}
	}
	if err := d.Try(t.Context(), d.id, "olga"); err != nil {
		t.Fatal(err)
	}
	told := d.told(t)
	if len(told) != 4 {
		t.Errorf("%d messages", len(told))
	}
	for _, m := range told {
		text, err := json.Marshal(m)
		if err != nil || strings.Contains(string(text), "secret-branch") {
			t.Errorf("%s, %v", text, err)
		}
	}
	earlier := waiting()
	earlier.Created = time.Now().Add(-time.Hour)
	if failed := d.Tell(t.Context(), Asks(earlier, "")); len(failed) > 0 || len(d.told(t)) != 4 {
		t.Errorf("told of what was asked before it was switched on: %v", failed)
	}
}

// TestWhoIsToldNoMore: a browser that its push service knows no more, that was switched off, or whose operator is gone.
func TestWhoIsToldNoMore(t *testing.T) {
	for name, over := range map[string]func(*testing.T, *desk){
		"gone":      func(_ *testing.T, d *desk) { d.Answer(http.StatusGone) },
		"not found": func(_ *testing.T, d *desk) { d.Answer(http.StatusNotFound) },
		"revoked":   func(_ *testing.T, d *desk) { d.inOffice = false },
		"a successor": func(_ *testing.T, d *desk) {
			d.olga.Created = time.Now()
		},
		"switched off": func(t *testing.T, d *desk) {
			if err := d.End(t.Context(), d.id, "mallory"); err == nil {
				t.Error("somebody else switched it off")
			}
			if err := d.End(t.Context(), d.id, "olga"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "127.0.0.1")
			d.begin(t)
			over(t, d)
			if failed := d.Tell(t.Context(), Asks(waiting(), "")); len(failed) > 0 {
				t.Error(failed)
			}
			d.Answer(http.StatusCreated)
			d.inOffice = true
			before := len(d.told(t))
			if failed := d.Tell(t.Context(), Asks(waiting(), "")); len(failed) > 0 || len(d.told(t)) != before {
				t.Errorf("%v, told %d times", failed, len(d.told(t)))
			}
			if _, wanted := d.Wanted(t.Context()); wanted {
				t.Error("somebody is told")
			}
			if body := d.rows.all[d.id]; body.Endpoint != "" || body.Auth != "" || body.Key != "" {
				t.Errorf("its keys are kept: %+v", body)
			}
		})
	}
}

// TestWhatFailsIsCounted: how often, why and since when, without the browser's address, until a message arrives.
func TestWhatFailsIsCounted(t *testing.T) {
	d := newDesk(t, "127.0.0.1")
	d.begin(t)
	for n, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusTemporaryRedirect} {
		d.Answer(status)
		failed := d.Tell(t.Context(), Asks(waiting(), ""))
		if len(failed) != 1 || strings.Contains(failed[0], "secret-of-this-browser") || strings.Contains(failed[0], "127.0.0.1") {
			t.Fatalf("%d: %q", status, failed)
		}
		if body := d.rows.all[d.id]; body.Failed != n+1 || body.Why == "" || body.FailedAt.IsZero() {
			t.Errorf("%+v", body)
		}
	}
	d.Answer(http.StatusCreated)
	if failed := d.Tell(t.Context(), Asks(waiting(), "")); len(failed) > 0 || d.rows.all[d.id].Failed != 0 || d.rows.all[d.id].Told.IsZero() {
		t.Errorf("%v %+v", failed, d.rows.all[d.id])
	}
	d.Close()
	if err := d.Try(t.Context(), d.id, "olga"); err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

// TestWhereNoMessageGoes: addresses that are none of a push service, or inside.
func TestWhereNoMessageGoes(t *testing.T) {
	d := newDesk(t)
	for _, address := range []string{"", "http://push.example/x", "https://", "https://a:b@push.example/x", "https://127.0.0.1/x", "https://[::1]/x",
		"https://localhost/x", "https://push.localhost/x", "https://10.1.2.3:8443/x", "https://169.254.169.254/latest", "https://router/x",
		"https://[::ffff:10.0.0.1]/x", "https://metadata.google.internal/x", "https://2130706433/x", "ftp://push.example/x",
		"https://push.example/" + strings.Repeat("x", maxEndpoint)} {
		b := d.browser()
		b.Endpoint = address
		if _, err := d.Check(t.Context(), "olga", b); err == nil {
			t.Errorf("%.60q is taken", address)
		}
	}
	for _, spoil := range []func(*Browser){func(b *Browser) { b.Key = b.Key[:20] }, func(b *Browser) { b.Auth = "" },
		func(b *Browser) { b.Auth = "!" }, func(b *Browser) { b.Key = "BA" + strings.Repeat("A", 85) }} {
		b := d.browser()
		b.Endpoint = "https://push.example/x"
		if _, err := d.Check(t.Context(), "olga", b); err != nil {
			t.Fatal(err)
		}
		spoil(&b)
		if _, err := d.Check(t.Context(), "olga", b); err == nil {
			t.Errorf("%+v is taken", b)
		}
	}
	// A name that anybody may have resolve to an address inside is looked at where it leads.
	to, err := url.Parse(d.browser().Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	inside := target{endpoint: "https://127.0.0.1:" + to.Port() + "/x", public: d.Public(), auth: make([]byte, authBytes)}
	if err := d.client.send(t.Context(), inside, []byte("{}"), "", time.Minute); err == nil || err.Error() != errInside.Error() || len(d.told(t)) > 0 {
		t.Errorf("sent inside: %v", err)
	}
}

// TestNobodyHasAHundredBrowsers: how many an operator may have told is bounded; the same browser again is the same.
func TestNobodyHasAHundredBrowsers(t *testing.T) {
	d := newDesk(t, "127.0.0.1")
	for n := range maxEach + 1 {
		b := d.browser()
		b.Endpoint += strings.Repeat("x", n)
		id, err := d.Check(t.Context(), "olga", b)
		if n == maxEach {
			if err == nil {
				t.Error("one more is taken")
			}
			return
		}
		if err == nil {
			err = d.Begin(t.Context(), id, d.olga, b)
		}
		if again, failed := d.Check(t.Context(), "olga", b); err != nil || failed != nil || again != id {
			t.Fatal(err, failed)
		}
	}
}
