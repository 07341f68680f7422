package mcpgateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"
)

// settleTime is how long requests that are under way when the input ends have to be answered: to some clients the end of
// what they send is not the end of what they read.
const settleTime = 30 * time.Second

// RunStdio serves one client on a pair of streams, one JSON-RPC message per line, until the input ends. What is no message is
// answered and costs the client nothing else.
func (g *Gateway) RunStdio(ctx context.Context, c Caller, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	peer := &linePeer{out: out}
	s, err := g.Open(c, peer)
	if err != nil {
		return err
	}
	defer s.Close()
	lines := make(chan struct{})
	var failed error
	go func() {
		defer close(lines)
		failed = s.readLines(ctx, in, peer)
	}()
	select {
	case <-lines:
	case <-ctx.Done(): // the reader may be in the middle of a line that never ends
		return nil
	}
	waitFor(&s.working, settleTime)
	return failed
}

// yieldAt is how many requests may be under way before the reader lets them go on first: a client that sends many at once is
// not to be refused only because none of them had its turn.
const yieldAt = 32

// readLines hands each line to the session, in order.
func (s *Session) readLines(ctx context.Context, in io.Reader, peer Peer) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	workers := newCrew(s)
	defer workers.dismiss()
	for {
		line, over, err := readLine(reader, s.gateway.config.Limits.Message)
		switch {
		case over:
			s.send(peer, faultMessage(nil, nil,
				faultObject(codeInvalidRequest, "the message is longer than this server reads", nil)))
		case len(bytes.Trim(line, jsonSpace)) > 0:
			if r := s.accept(ctx, line, peer); r != nil {
				workers.take(r)
			}
			if len(s.slots) > yieldAt {
				runtime.Gosched()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads to the end of a line, into memory of its own. What is over the bound is read and dropped.
func readLine(in *bufio.Reader, most int) (line []byte, over bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if over = over || len(line)+len(part) > most+1; !over {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, over, err
		}
	}
}

// A crew carries requests out. Its workers are kept, because a decision needs a stack that a new goroutine would have to grow
// each time. There are never more than a session has requests under way.
type crew struct {
	session *Session
	idle    chan chan *request
}

func newCrew(s *Session) *crew {
	return &crew{session: s, idle: make(chan chan *request, 32)}
}

// take has a worker serve a request.
func (c *crew) take(r *request) {
	select {
	case w := <-c.idle:
		w <- r
	default:
		w := make(chan *request, 1)
		w <- r
		go c.work(w)
	}
}

func (c *crew) work(w chan *request) {
	for r := range w {
		c.session.serve(r)
		select {
		case c.idle <- w:
		default:
			return // enough are waiting
		}
	}
}

// dismiss ends the workers that wait. Those at work end when the session does, and are few.
func (c *crew) dismiss() {
	for {
		select {
		case w := <-c.idle:
			close(w)
		default:
			return
		}
	}
}

// A linePeer writes one message per line. Who finds nobody writing writes, and takes along what others left meanwhile, so
// that many answers cost one system call and one answer waits for nobody.
type linePeer struct {
	out io.Writer

	mu      sync.Mutex
	room    sync.Cond // told when there is room again; its lock is mu
	waiting []byte    // lines that wait to be written
	spare   []byte    // the buffer that was written last
	writing bool
	failed  error
}

// mostWaiting is how much may wait to be written before senders wait too, in bytes.
const mostWaiting = 1 << 20

func (p *linePeer) Send(_ context.Context, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room.L == nil {
		p.room.L = &p.mu
	}
	for p.failed == nil && p.writing && len(p.waiting) > mostWaiting {
		p.room.Wait()
	}
	if p.failed != nil {
		return p.failed
	}
	p.waiting = append(append(p.waiting, message...), '\n')
	if p.writing {
		return nil
	}
	p.writing = true
	for len(p.waiting) > 0 && p.failed == nil {
		lines := p.waiting
		p.waiting = p.spare[:0]
		p.mu.Unlock()
		_, err := p.out.Write(lines)
		p.mu.Lock()
		if p.spare = lines; cap(lines) > mostWaiting {
			p.spare = nil
		}
		if err != nil {
			p.failed = err
		}
		p.room.Broadcast()
	}
	p.writing = false
	return p.failed
}
