package mcpgateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/rpc"
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
	f := &lineFront{session: s, peer: peer, in: bufio.NewReaderSize(in, 64<<10), workers: newCrew(s), turn: make(chan struct{}),
		ended: make(chan struct{})}
	go f.read(ctx)
	select {
	case <-f.ended:
	case <-ctx.Done(): // the reader may be in the middle of a line that never ends
		return nil
	}
	waitFor(&s.working, settleTime)
	return f.failed
}

// yieldAt is how many requests may be under way before the reader lets them go on first: a client that sends many at once is
// not to be refused only because none of them had its turn.
const yieldAt = 32

// promptRequest is how long a message may be that is carried out by the goroutine that reads, in bytes: a server's pipe takes it
// whole, so that nobody has to wait for the server to read.
const promptRequest = 16 << 10

// A lineFront reads a client's messages, one goroutine at a time. A call that comes alone is decided and sent on by the one
// that read it; before it has to wait for anything, another takes its turn at reading. Calls that come together are carried
// out side by side.
type lineFront struct {
	session *Session
	peer    Peer
	in      *bufio.Reader
	workers *crew
	turn    chan struct{} // takes a value where one who has read before waits to read again
	ended   chan struct{} // closed when there is no more to read
	failed  error         // why, where it is not the end of the input; set before ended is closed
}

// read reads until the input ends or somebody else reads, and then waits for its next turn: a decision needs a stack that a new
// goroutine would have to grow each time.
func (f *lineFront) read(ctx context.Context) {
	for f.readOn(ctx) {
		select {
		case <-f.turn:
		case <-f.ended:
			return
		}
	}
}

// readOn hands each line to the session, in order. It reports whether somebody else reads on; else the input has ended.
func (f *lineFront) readOn(ctx context.Context) (handedOver bool) {
	s := f.session
	for {
		line, over, err := rpc.ReadLine(f.in, s.gateway.config.Limits.Message, nil)
		switch {
		case over:
			s.send(f.peer, rpc.AppendFault(nil, nil,
				rpc.FaultObject(rpc.CodeInvalidRequest, "the message is longer than this server reads", nil)))
		case len(bytes.Trim(line, rpc.Space)) > 0:
			if r := s.accept(ctx, line, f.peer); r != nil && f.carryOut(ctx, r, len(line)) {
				return true
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.failed = err
			}
			f.workers.dismiss()
			close(f.ended)
			return false
		}
	}
}

// carryOut has a request carried out. It reports whether somebody else reads on.
func (f *lineFront) carryOut(ctx context.Context, r *request, size int) (handedOver bool) {
	r.mayGoOn = true
	if !r.alone || !r.carries() || size > promptRequest || f.in.Buffered() > 0 {
		f.workers.take(r)
		if len(f.session.slots) > yieldAt {
			runtime.Gosched()
		}
		return false
	}
	r.aside = func() {
		handedOver = true
		select {
		case f.turn <- struct{}{}:
		default:
			go f.read(ctx)
		}
	}
	f.session.serve(r)
	return handedOver
}

// A crew carries requests out. Its workers are kept, because a decision needs a stack that a new goroutine would have to grow
// each time. There are never more than a session has requests under way.
type crew struct {
	session *Session
	idle    chan chan *request
	over    atomic.Bool // nothing comes any more
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
			if c.over.Load() {
				c.dismiss() // this one came to wait after the others had been sent away
			}
		default:
			return // enough are waiting
		}
	}
}

// dismiss ends the workers that wait, and those at work when they are done.
func (c *crew) dismiss() {
	c.over.Store(true)
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
