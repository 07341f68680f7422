package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"interlock"
	"interlock/internal/hook"
	"interlock/internal/strictjson"
)

// The bounds of speaking to the server. A server that doesn't answer is passed over for the store in process, with enough
// of the deadline left for that.
const (
	dialTimeout    = 250 * time.Millisecond
	serverTimeout  = 1500 * time.Millisecond
	maxServerReply = 1 << 20
)

// viaServer has the call judged by the server behind the socket. It reports false if no server gave an answer; the same
// call judged again in process is found by its digest and not recorded twice.
func (h *hookRun) viaServer(ctx context.Context, call hook.Call, socket string) (hook.Output, bool) {
	if !exists(socket) {
		return hook.Output{}, false
	}
	s, err := dialServer(ctx, socket, h.command.Deadline)
	if err != nil {
		return hook.Output{}, false
	}
	defer s.conn.Close()
	if call.Phase == hook.After {
		for i, outcome := range call.Outcomes {
			if err := s.report(call.Proposals[i].Requester, outcome); err != nil {
				return h.refusedByServer(call, "outcome", err)
			}
		}
		return hook.Render(call, redacted), true
	}
	answers := make([]interlock.Answer, len(call.Proposals))
	for i, p := range call.Proposals {
		if answers[i], err = s.propose(p); err != nil {
			return h.refusedByServer(call, "server", err)
		}
	}
	h.note(answers)
	return hook.Render(call, redacted, answers...), true
}

// refusedByServer: an error the server names is its answer; anything else is no answer.
func (h *hookRun) refusedByServer(call hook.Call, rule string, err error) (hook.Output, bool) {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		return hook.Output{}, false
	}
	return hook.Refuse(call, rule, refusal.Error()), true
}

// A serverConnection speaks HTTP/1.1 to the server's socket, one request after the other. It is written by hand because
// an http.Client costs a hook process more than the request itself.
type serverConnection struct {
	conn   net.Conn
	reader *bufio.Reader
}

func dialServer(ctx context.Context, socket string, deadline time.Duration) (*serverConnection, error) {
	dialer := net.Dialer{Timeout: min(dialTimeout, deadline/4)}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(min(serverTimeout, deadline/3))); err != nil {
		conn.Close()
		return nil, err
	}
	return &serverConnection{conn: conn, reader: bufio.NewReader(conn)}, nil
}

// serverReply is an answer, or the error in its place.
type serverReply struct {
	interlock.Answer
	Error *struct {
		Code    interlock.Code `json:"code"`
		Message string         `json:"message"`
		Field   string         `json:"field"`
	} `json:"error"`
}

func (s *serverConnection) propose(p interlock.Proposal) (interlock.Answer, error) {
	var reply serverReply
	if err := s.exchange("/v1/decide", p, &reply); err != nil {
		return interlock.Answer{}, err
	}
	return reply.Answer, nil
}

func (s *serverConnection) report(r interlock.Requester, o interlock.Outcome) error {
	body := struct {
		interlock.Outcome
		Requester interlock.Requester `json:"requester"`
	}{o, r}
	return s.exchange("/v1/outcome", body, &serverReply{})
}

// health asks whether the server answers at all.
func (s *serverConnection) health() error {
	if _, err := io.WriteString(s.conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	response, err := http.ReadResponse(s.reader, nil)
	if err != nil {
		return fmt.Errorf("reading the reply: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered with status %d", response.StatusCode)
	}
	return nil
}

// exchange sends one request and reads its reply. Errors that mean "no answer" are not *interlock.Error.
func (s *serverConnection) exchange(path string, body any, reply *serverReply) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	var request bytes.Buffer
	fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(data))
	request.Write(data)
	if _, err := s.conn.Write(request.Bytes()); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	response, err := http.ReadResponse(s.reader, nil)
	if err != nil {
		return fmt.Errorf("reading the reply: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxServerReply+1))
	if err != nil || len(text) > maxServerReply {
		return errors.New("reading the reply: it breaks off or is too long")
	}
	if response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusTooManyRequests ||
		response.StatusCode >= 500 {
		return fmt.Errorf("the server answered with status %d", response.StatusCode)
	}
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	if err := strictjson.DecodeLenient(text, &envelope); err != nil {
		return errors.New("the reply can't be read")
	}
	if len(envelope.Error) > 0 {
		if err := strictjson.DecodeLenient(envelope.Error, &reply.Error); err != nil || reply.Error == nil {
			return errors.New("the reply can't be read")
		}
		return &interlock.Error{Code: reply.Error.Code, Field: reply.Error.Field, Message: reply.Error.Message}
	}
	if err := strictjson.DecodeLenient(text, &reply.Answer); err != nil {
		return errors.New("the reply can't be read")
	}
	return nil
}
