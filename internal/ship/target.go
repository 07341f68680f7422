package ship

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"interlock"
	"interlock/internal/fileio"
)

// A Format is the form entries are sent in.
type Format string

// The formats.
const (
	CloudEvents Format = "cloudevents" // CloudEvents 1.0, JSON
	OCSF        Format = "ocsf"        // OCSF 1.8, API Activity
	JSONL       Format = "jsonl"       // the event as it is in the log, whose hash can be checked
)

// A Message is an entry as it is sent.
type Message struct {
	ID   string
	Type interlock.EventType
	At   time.Time
	Text []byte
}

// A Target takes messages. Send returns nil once the receiver has said that they are kept.
type Target interface {
	Name() string // without secrets
	Format() Format
	Send(ctx context.Context, batch []Message) error
}

// A Config names one target.
type Config struct {
	To     string // file path, https://..., or syslog+tls://HOST:PORT; to this machine also http:// and syslog+tcp://
	Format Format // empty means CloudEvents
	// optional: the bearer token for an HTTPS address, asked for with each batch
	Token func() (string, error)
	Host  string      // of syslog messages: this machine's name
	Trust *tls.Config // optional: of tests
}

const patience = 10 * time.Second

// New returns the target that a configuration names, or an error that names the field.
func New(c Config) (Target, error) {
	switch c.Format {
	case "":
		c.Format = CloudEvents
	case CloudEvents, OCSF, JSONL:
	default:
		return nil, interlock.Errorf(interlock.CodeInvalid, "format", "%.20q is none of cloudevents, ocsf and jsonl", string(c.Format))
	}
	u, err := url.Parse(c.To)
	if c.To == "" {
		return nil, interlock.Errorf(interlock.CodeInvalid, "to", "is missing; name a file, an HTTPS URL or syslog+tls://HOST:PORT")
	}
	if err != nil || u.Scheme == "" || len(u.Scheme) == 1 { // one letter is a Windows drive
		return file{c.To, c.Format}, nil
	}
	near := loopback(u.Hostname())
	switch {
	case u.User != nil:
		return nil, interlock.Errorf(interlock.CodeInvalid, "to", "a URL must not carry user information; name a token")
	case u.Scheme == "https", u.Scheme == "http" && near:
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.Proxy, transport.TLSClientConfig = nil, c.Trust
		return &web{Config: c, client: http.Client{Timeout: patience, Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
	case u.Scheme == "syslog+tls", u.Scheme == "syslog+tcp" && near:
		if _, _, err := net.SplitHostPort(u.Host); err != nil || strings.Trim(u.Path, "/") != "" {
			return nil, interlock.Errorf(interlock.CodeInvalid, "to", "a syslog address is syslog+tls://HOST:PORT")
		}
		return &syslog{Config: c, address: u.Host, secure: u.Scheme == "syslog+tls"}, nil
	}
	return nil, interlock.Errorf(interlock.CodeInvalid, "to",
		"%.60q is neither a file, an HTTPS URL nor syslog+tls://HOST:PORT", c.To)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// file appends lines to a file.
type file struct {
	path   string
	format Format
}

func (f file) Name() string   { return f.path }
func (f file) Format() Format { return f.format }

// Send appends a batch in one write and has it on the disk before it returns.
func (f file) Send(_ context.Context, batch []Message) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return errors.New("the file can't be opened: " + fileio.Reason(err))
	}
	before, err := out.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = out.Write(lines(batch))
	}
	if err == nil {
		err = out.Sync()
	} else {
		_ = out.Truncate(before) // half a line would spoil the one that is written next
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return errors.New("the file can't be written: " + fileio.Reason(err))
	}
	return nil
}

func lines(batch []Message) []byte {
	var b bytes.Buffer
	for _, m := range batch {
		b.Write(m.Text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// web posts batches.
type web struct {
	Config
	client http.Client
}

func (w *web) Name() string   { return w.To }
func (w *web) Format() Format { return w.Config.Format }

// Send posts a batch, which a status of 2xx says is kept.
func (w *web) Send(ctx context.Context, batch []Message) error {
	body, kind := lines(batch), "application/x-ndjson"
	if w.Config.Format == CloudEvents {
		texts := make([][]byte, len(batch))
		for n := range batch {
			texts[n] = batch[n].Text
		}
		body, kind = append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']'), "application/cloudevents-batch+json"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.To, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL can't be requested")
	}
	request.Header.Set("Content-Type", kind+"; charset=utf-8")
	if w.Token != nil {
		token, err := w.Token()
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return errors.New("the server does not answer")
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4096)) // so that the connection can be kept
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the server answered with status %d", response.StatusCode)
	}
	return nil
}

// syslog sends RFC 5424 messages, framed by octet counts (RFC 5425, RFC 6587), over one connection that is made when it is needed.
// Syslog knows no acknowledgement, so a batch counts as kept when the server has not closed the connection upon it: those who
// need more take HTTPS or a file.
type syslog struct {
	Config
	address string
	secure  bool
	conn    net.Conn
}

func (s *syslog) Name() string   { return s.To }
func (s *syslog) Format() Format { return s.Config.Format }

// Send writes a batch.
func (s *syslog) Send(ctx context.Context, batch []Message) error {
	if s.conn == nil || s.gone() {
		if err := s.dial(ctx); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	for _, m := range batch {
		text := s.frame(m)
		fmt.Fprintf(&b, "%d %s", len(text), text)
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(patience)) // of a connection that is closed, writing says so
	if _, err := s.conn.Write(b.Bytes()); err != nil || s.gone() {
		s.close()
		return errors.New("the syslog server has closed the connection")
	}
	return nil
}

// frame is a message of facility 13 (log audit): notice, and for what was refused or alarms warning.
func (s *syslog) frame(m Message) []byte {
	const audit, warning, notice = 13, 4, 5
	severity := notice
	switch m.Type {
	case interlock.EventBlock, interlock.EventAlert, interlock.EventIntegrity, interlock.EventIncident, interlock.EventKill:
		severity = warning
	}
	host := s.Host
	if host == "" || strings.ContainsAny(host, " \n") {
		host = "-"
	}
	head := fmt.Sprintf("<%d>1 %s %.255s interlock - %.32s - ", audit*8+severity, m.At.UTC().Format("2006-01-02T15:04:05.000000Z"), host, m.Type)
	return append([]byte(head), m.Text...)
}

func (s *syslog) dial(ctx context.Context) error {
	s.close()
	dialer := &net.Dialer{Timeout: patience}
	var err error
	if s.secure {
		s.conn, err = (&tls.Dialer{NetDialer: dialer, Config: s.Trust}).DialContext(ctx, "tcp", s.address)
	} else {
		s.conn, err = dialer.DialContext(ctx, "tcp", s.address)
	}
	if err != nil {
		s.conn = nil
		return errors.New("the syslog server does not answer")
	}
	return nil
}

// gone looks whether the server has closed the connection: it never says anything else.
func (s *syslog) gone() bool {
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := s.conn.Read(make([]byte, 1))
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

func (s *syslog) close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
