package hook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
	"interlock/internal/witness"
)

// The bounds of speaking to the server. A server that doesn't answer is passed over for the store in process, with enough
// of the deadline left for that.
const (
	DialTimeout    = 250 * time.Millisecond
	ServerTimeout  = 1500 * time.Millisecond
	maxServerReply = 1 << 20
)

// askServer has the call judged by the server behind the socket. It reports false if no server gave an answer that it could prove
// to be its own; the same call judged again in process is found by its digest and not recorded twice.
func (r *run) askServer(ctx context.Context, call Call) (Output, witness.News, bool) {
	dial := func() (*Server, error) { return Dial(ctx, r.Socket, r.Deadline, r.Key) }
	if r.System {
		dial = func() (*Server, error) { return DialSystem(ctx, r.Socket, r.Deadline) }
	}
	s, err := dial()
	if err == nil {
		defer s.Close()
		if r.Held != nil && !r.System {
			s.news.Held = r.Held(call.Agent, s.key.Origin())
		}
		out, answered := r.askDialled(ctx, s, call)
		// A log that does not go on from what was seen of it is for the store itself to explain.
		if _, _, contradicts := s.news.Contradicted(); contradicts && len(s.news.Checkpoint) > 0 {
			answered = false
		}
		if s.impostor == nil {
			return out, s.news, answered
		}
		err = s.impostor
	}
	if errors.Is(err, ErrImpostor) {
		r.mutex.Lock()
		r.call.Impostor = true
		r.mutex.Unlock()
	}
	return Output{}, witness.News{}, false
}

// askDialled asks over a connection. Whatever it returns counts only if no answer was somebody else's.
func (r *run) askDialled(ctx context.Context, s *Server, call Call) (Output, bool) {
	redact := r.Redact
	var err error
	if tells(&call) {
		if s.heard(&call) != nil {
			return Output{}, false // by an older server, say: in process it is remembered as well
		}
	}
	if call.Phase == Told {
		return Render(call, redact), true
	}
	if call.Phase == After {
		for i, outcome := range call.Outcomes {
			if err := s.report(call.Proposals[i].Requester, outcome); err != nil {
				return refusedByServer(call, "outcome", err)
			}
		}
		return Render(call, redact), true
	}
	answers := make([]interlock.Answer, len(call.Proposals))
	for i := range call.Proposals {
		known := false
		if answers[i], known, err = call.propose(ctx, i, r.Environment, s.propose); err != nil {
			return refusedByServer(call, "server", err)
		}
		if !known {
			return Output{}, false
		}
	}
	return Render(call, redact, answers...), true
}

// refusedByServer: an error the server names is its answer; anything else is no answer.
func refusedByServer(call Call, rule string, err error) (Output, bool) {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return Output{}, false
	}
	return Refuse(call, rule, refusal.Error()), true
}

// A Server is a connection to the server's socket that speaks HTTP/1.1, one request after the other. It is written by hand
// because net/http costs a hook process more to start than the request itself.
//
// Who listens on the socket proves nothing by that: any process of the same user can take its place. So each answer must be
// signed, by the key that the hook was installed with, for a nonce and for what was asked.
type Server struct {
	conn     net.Conn
	reader   *bufio.Reader
	key      witness.Key
	asked    int             // requests so far
	proofs   []witness.Proof // of the last answer
	news     witness.News    // what is held of the log, and the newest that came, with what shows that it goes on from there
	impostor error           // an answer was not the server's
	system   bool            // another user's server, known by its place and by the kernel's word
}

// ErrImpostor says that what listens on the server's socket is something else.
var ErrImpostor = errors.New("what listens on the server's socket can't prove to be Interlock's server for this home")

// Dial connects to a server that has to answer under a key. What is said over the connection has to be said within a third of the
// deadline. The key is asked for only where somebody listens.
func Dial(ctx context.Context, socket string, deadline time.Duration, key func() (witness.Key, error)) (*Server, error) {
	if err := ownSocket(socket); err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: min(DialTimeout, deadline/4)}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	s := &Server{conn: conn, reader: bufio.NewReader(conn)}
	if err = conn.SetDeadline(time.Now().Add(min(ServerTimeout, deadline/3))); err == nil {
		if err = ownPeer(conn, socket); err == nil {
			s.key, err = key()
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrImpostor, err)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// systemShare is how much of the deadline the system's server has: nobody else could answer in its place.
const systemShare = 0.9

// DialSystem connects to the server of the system, which runs as a user of its own. That it is the server follows from where its
// socket lies, in a directory that none but root and that user can write, and from the kernel's word that this user listens.
func DialSystem(ctx context.Context, socket string, deadline time.Duration) (*Server, error) {
	user, err := systemSocket(socket)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: min(4*DialTimeout, deadline/4)}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err = conn.SetDeadline(time.Now().Add(time.Duration(systemShare * float64(deadline)))); err == nil {
		err = peerIs(conn, user)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrImpostor, err)
	}
	return &Server{conn: conn, reader: bufio.NewReader(conn), system: true}, nil
}

// Close ends the connection.
func (s *Server) Close() error { return s.conn.Close() }

// Health asks whether the server answers at all.
func (s *Server) Health() error {
	status, _, err := s.exchange("GET", "/healthz", nil)
	if err == nil && status != 200 {
		err = fmt.Errorf("the server answered with status %d", status)
	}
	return err
}

func (s *Server) propose(h interlock.Handover, p interlock.Proposal) (interlock.Answer, error) {
	if s.system {
		h = "" // nothing of this user's own takes the call over
	}
	text, err := s.post("/v1/decide", struct {
		Action    interlock.Action    `json:"action"`
		Requester interlock.Requester `json:"requester"`
		Event     string              `json:"event,omitempty"`
		Door      string              `json:"door,omitempty"`
		CanAsk    bool                `json:"can_ask"`
		Handover  interlock.Handover  `json:"handover,omitempty"`
	}{p.Action, p.Requester, p.Event, p.Door, p.CanAsk, h}) // no view: the server gathers its own
	if err != nil {
		return interlock.Answer{}, err
	}
	var answer interlock.Answer
	if err := strictjson.DecodeLenient(text, &answer); err != nil {
		return interlock.Answer{}, errors.New("the reply can't be read")
	}
	if len(answer.Checkpoint) > 0 {
		s.news.Checkpoint, s.news.Proofs = answer.Checkpoint, s.proofs
	}
	return answer, nil
}

func (s *Server) report(r interlock.Requester, o interlock.Outcome) error {
	_, err := s.post("/v1/outcome", struct {
		interlock.Outcome
		Requester interlock.Requester `json:"requester"`
	}{o, r})
	return err
}

// heard hands on what a call tells of its run.
func (s *Server) heard(c *Call) error {
	body := heardBody{Requester: c.Who, Prompt: cut(c.Said, maxSent)}
	if c.Phase == After {
		p := c.Proposals[0]
		body = heardBody{Requester: p.Requester, Action: &p.Action, Result: cut(c.Result, maxSent)}
	}
	reply, err := s.post("/v1/heard", body)
	if err != nil || c.Phase != After {
		return err
	}
	return c.readScreened(reply)
}

type heardBody struct {
	Requester interlock.Requester `json:"requester"`
	Prompt    string              `json:"prompt,omitempty"`
	Action    *interlock.Action   `json:"action,omitempty"`
	Result    string              `json:"result,omitempty"`
}

// maxSent bounds how much of a text is handed on to the server, in bytes: a little more than is read of it, so that it shows.
const maxSent = 256<<10 + 64

// post sends one request and returns its reply, or the *interlock.Error that comes in its place. Errors that mean "no
// answer" are of other types.
func (s *Server) post(path string, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	status, text, err := s.exchange("POST", path, data)
	if err != nil {
		return nil, err
	}
	if status == 429 || status >= 500 {
		return nil, fmt.Errorf("the server answered with status %d", status)
	}
	var envelope struct {
		Error *struct {
			Code    interlock.Code `json:"code"`
			Message string         `json:"message"`
			Field   string         `json:"field"`
		} `json:"error"`
	}
	if err := strictjson.DecodeLenient(text, &envelope); err != nil {
		return nil, errors.New("the reply can't be read")
	}
	if e := envelope.Error; e != nil {
		return nil, &interlock.Error{Code: e.Code, Field: e.Field, Message: e.Message}
	}
	if status != 200 {
		return nil, fmt.Errorf("the server answered with status %d", status)
	}
	return text, nil
}

// exchange is one request and its reply, which counts only as the server's own. Only replies with a length are read: the server
// always gives one.
func (s *Server) exchange(method, path string, body []byte) (status int, text []byte, err error) {
	s.asked++
	fresh := fmt.Sprint(time.Now().UnixNano(), os.Getpid(), s.asked)
	asked := witness.Answer{Nonce: s.key.Nonce(fresh), Method: method, Path: path, Asked: sha256.Sum256(body)}
	var request bytes.Buffer
	fmt.Fprintf(&request, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %d\r\n",
		method, path, witness.NonceHeader, asked.Nonce, len(body))
	if len(s.news.Held) > 0 {
		fmt.Fprintf(&request, "%s: %s\r\n", witness.KeptHeader, witness.Sizes(s.news.Held))
	}
	request.WriteString("\r\n")
	request.Write(body)
	if _, err := s.conn.Write(request.Bytes()); err != nil {
		return 0, nil, fmt.Errorf("sending the request: %w", err)
	}
	header, text, err := s.reply(&asked)
	if err != nil {
		return 0, nil, err
	}
	asked.Reply = sha256.Sum256(text)
	if !s.system && !s.key.Signed(&asked, header.Get(witness.SignatureHeader)) {
		s.impostor = ErrImpostor
		return 0, nil, ErrImpostor
	}
	s.proofs = witness.ParseProofs(header.Get(witness.ProofHeader))
	return asked.Status, text, nil
}

// reply reads what comes back, and its status into the answer that has to be signed.
func (s *Server) reply(to *witness.Answer) (header textproto.MIMEHeader, text []byte, err error) {
	head := textproto.NewReader(s.reader)
	first, err := head.ReadLine()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the reply: %w", err)
	}
	protocol, rest, _ := strings.Cut(first, " ")
	code, _, _ := strings.Cut(rest, " ")
	if to.Status, err = strconv.Atoi(code); err != nil || protocol != "HTTP/1.1" {
		return nil, nil, errors.New("reading the reply: it is no HTTP reply")
	}
	if header, err = head.ReadMIMEHeader(); err != nil {
		return nil, nil, fmt.Errorf("reading the reply: %w", err)
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || length < 0 || length > maxServerReply {
		return nil, nil, errors.New("reading the reply: it has no length or is too long")
	}
	text = make([]byte, length)
	if _, err := io.ReadFull(s.reader, text); err != nil {
		return nil, nil, fmt.Errorf("reading the reply: %w", err)
	}
	return header, text, nil
}
