package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/notice"
)

// The ways of speaking to a mail server.
const (
	startTLS   = "starttls"
	directTLS  = "tls"
	withoutTLS = "none"
)

// email sends a mail to everybody it names.
type email struct {
	host     string // host:port
	name     string // host
	how      string
	user     string
	password notice.Secret
	from     string
	to       []string
	now      func() time.Time
	tls      *tls.Config
}

func newEmail(s Settings, c Config) (channel, error) {
	m := &email{host: s.Host, how: s.TLS, user: s.User, now: c.Now}
	var err error
	if m.name, _, err = net.SplitHostPort(s.Host); err != nil || m.name == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "host", "%.60q is not host:port of a mail server", s.Host)
	}
	switch {
	case m.how == "":
		m.how = startTLS
	case m.how == withoutTLS && !isLoopback(m.name):
		return nil, interlock.Errorf(interlock.CodeInvalid, "tls", "can be none only for a mail server on this machine")
	case m.how != startTLS && m.how != directTLS && m.how != withoutTLS:
		return nil, interlock.Errorf(interlock.CodeInvalid, "tls", "%.40q is not known; name starttls, tls or none", m.how)
	}
	if m.from, err = mailbox("from", s.From); err != nil {
		return nil, err
	}
	for _, to := range s.To {
		address, err := mailbox("to", to)
		if err != nil {
			return nil, err
		}
		m.to = append(m.to, address)
	}
	if len(m.to) == 0 {
		return nil, interlock.Errorf(interlock.CodeInvalid, "to", "is missing; name at least one address")
	}
	if (s.User == "") != (s.Password == "") {
		return nil, interlock.Errorf(interlock.CodeInvalid, "password", "user and password belong together; set both or none")
	}
	if s.Password != "" {
		if m.password, err = secret("password", s.Password, c.Getenv); err != nil {
			return nil, err
		}
	}
	m.tls = &tls.Config{ServerName: m.name, MinVersion: tls.VersionTLS12}
	if c.trust != nil {
		c.trust(nil, m)
	}
	return m, nil
}

// mailbox takes one bare address.
func mailbox(field, value string) (string, error) {
	parsed, err := mail.ParseAddress(value)
	if err != nil || parsed.Name != "" || strings.ContainsAny(parsed.Address, "\r\n") {
		return "", interlock.Errorf(interlock.CodeInvalid, field, "%.60q is not a mail address such as olga@example.com", value)
	}
	return parsed.Address, nil
}

func (m *email) send(ctx context.Context, n notice.Notice) error {
	message, err := m.message(n)
	if err != nil {
		return errors.New("the mail can't be written")
	}
	conn, err := m.dial(ctx)
	if err != nil {
		return failure(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // a connection that can't have one ends with its peer
	}
	talk, err := smtp.NewClient(conn, m.name)
	if err != nil {
		return refusal(err)
	}
	defer talk.Close()
	if m.how == startTLS {
		if offered, _ := talk.Extension("STARTTLS"); !offered {
			return errors.New("the mail server offers no TLS")
		}
		if err := talk.StartTLS(m.tls); err != nil {
			return failure(err)
		}
	}
	return m.deliver(talk, message)
}

func (m *email) dial(ctx context.Context) (net.Conn, error) {
	if m.how == directTLS {
		return (&tls.Dialer{Config: m.tls}).DialContext(ctx, "tcp", m.host)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", m.host)
}

// deliver has a mail server take the message. It counts once the server has taken all of it.
func (m *email) deliver(talk *smtp.Client, message []byte) error {
	if m.user != "" {
		if err := talk.Auth(smtp.PlainAuth("", m.user, m.password.Reveal(), m.name)); err != nil {
			return errors.New("the mail server does not take user and password")
		}
	}
	if err := talk.Mail(m.from); err != nil {
		return refusal(err)
	}
	for _, to := range m.to {
		if err := talk.Rcpt(to); err != nil {
			return refusal(err)
		}
	}
	w, err := talk.Data()
	if err != nil {
		return refusal(err)
	}
	if _, err := w.Write(message); err != nil {
		return refusal(err)
	}
	if err := w.Close(); err != nil {
		return refusal(err)
	}
	_ = talk.Quit() // it has the mail
	return nil
}

// message is the whole mail. Nothing an agent chose is in a header but its name, encoded.
func (m *email) message(n notice.Notice) ([]byte, error) {
	var b bytes.Buffer
	header := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	header("From", "Interlock <"+m.from+">")
	header("To", strings.Join(m.to, ", "))
	header("Date", m.now().UTC().Format(time.RFC1123Z))
	header("Subject", mime.QEncoding.Encode("utf-8", shortened(headline(n), 120)))
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(text(n, 0))); err != nil {
		return nil, err
	}
	return b.Bytes(), w.Close()
}

// refusal says that a mail server refused, by its code and not in its words.
func refusal(err error) error {
	var said *textproto.Error
	if errors.As(err, &said) {
		return errors.New("the mail server refuses with " + strconv.Itoa(said.Code))
	}
	return failure(err)
}
