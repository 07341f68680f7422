package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/meter"
	"interlock/internal/rpc"
)

// A stdioLink speaks to a program: one message to a line, on its input and from its output.
type stdioLink struct {
	server  *Server
	process *process
	input   *rpc.LineReader
	stderr  *complaints
	conceal concealer
	since   time.Time

	writing chan []byte // holds the buffer of the one that may write
	until   time.Time   // the deadline in force for writes; of the one that may write

	answered atomic.Bool // it has said something
	broken   atomic.Bool // half a message was written; nothing can follow
	closing  atomic.Bool // by us
	closed   chan struct{}
	finish   sync.Once
}

// startProgram starts a server's program.
func startProgram(s *Server, args []string, env map[string]string, conceal concealer) (*stdioLink, error) {
	l := &stdioLink{server: s, conceal: conceal, since: s.options.Now(), writing: make(chan []byte, 1),
		closed: make(chan struct{})}
	l.stderr = &complaints{conceal: conceal, now: s.options.Now, log: func(line string) { s.options.Log(s.config.Name, line) },
		lines: meter.Allowance{Most: linesPerWindow, Per: lineWindow}}
	path, err := findProgram(s.config.Command, s.config.Dir, searchPath(s.options.Getenv, env),
		programExtensions(s.options.Getenv))
	if err == nil {
		l.process, err = startProcess(path, args, environment(s.options.Getenv, env), s.config.Dir, l.stderr)
	}
	if err != nil {
		return nil, startError(s.config, err)
	}
	l.input = rpc.NewLineReader(l.process.stdout, s.config.MaxMessage)
	l.writing <- nil
	return l, nil
}

// startError says why a program does not start, for operators.
func startError(c Config, err error) error {
	if c.Dir != "" {
		if info, statErr := os.Stat(c.Dir); statErr != nil || !info.IsDir() {
			return invalid("dir", "%.200q is no directory", c.Dir)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return invalid("command", "there is no program %.200q", c.Command)
	case errors.Is(err, fs.ErrPermission):
		return invalid("command", "%.200q may not be run", c.Command)
	default:
		return invalid("command", "%.200q can't be started", c.Command)
	}
}

// A program may leave a message unread for longestWrite at least, and for mostWrite at most: to move the deadline for each
// message costs more than the message's way.
const (
	longestWrite = time.Minute
	mostWrite    = 90 * time.Second
)

// keptBuffer is how large a write buffer may be to be kept, in bytes.
const keptBuffer = 256 << 10

// Send writes one message.
func (l *stdioLink) Send(ctx context.Context, message []byte) error {
	if len(message) == 0 || bytes.ContainsAny(message, "\r\n") {
		return interlock.Errorf(interlock.CodeInvalid, "", "a message to a server must be one line")
	}
	var buffer []byte
	select {
	case buffer = <-l.writing:
	case <-l.process.done:
		return l.server.unavailable("has exited")
	case <-ctx.Done():
		return l.server.unavailable("takes no messages now")
	}
	buffer = append(append(buffer[:0], message...), '\n')
	written, err := l.write(ctx, buffer)
	if cap(buffer) > keptBuffer {
		buffer = nil
	}
	l.writing <- buffer
	switch {
	case err == nil:
		return nil
	case written == 0:
		return l.server.unavailable("takes no messages")
	default:
		return lost("the server " + l.server.config.Name + " stopped reading within a message")
	}
}

// write writes a whole line, or ends the program: after half a line nothing else would be understood. A program that does not
// read is waited for until the caller's deadline; without deadlines on pipes, as on Windows, until it is closed.
func (l *stdioLink) write(ctx context.Context, line []byte) (int, error) {
	if l.broken.Load() || ctx.Err() != nil {
		return 0, io.ErrClosedPipe
	}
	now := time.Now()
	sooner, has := ctx.Deadline()
	switch {
	case has && sooner.Sub(now) < longestWrite:
		l.until = sooner
		_ = l.process.stdin.SetWriteDeadline(l.until)
	case l.until.Sub(now) < longestWrite:
		l.until = now.Add(mostWrite)
		_ = l.process.stdin.SetWriteDeadline(l.until)
	}
	written, err := l.process.stdin.Write(line)
	if err != nil && (written > 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
		l.broken.Store(true)
		l.process.group.kill()
	}
	return written, err
}

// Receive returns the next message.
func (l *stdioLink) Receive() ([]byte, error) {
	message, err := l.input.Next()
	if err != nil {
		l.ended()
		return nil, io.EOF
	}
	if !l.answered.Load() {
		l.answered.Store(true)
		l.server.answered()
	}
	return l.conceal.message(message), nil
}

// ended waits for a program whose output has ended, and notes it as a failure unless it was closed by us.
func (l *stdioLink) ended() {
	timer := time.NewTimer(orphans)
	defer timer.Stop()
	what := "closed its output without exiting"
	select {
	case <-l.process.done:
		what = l.process.said()
	case <-timer.C:
		l.process.group.kill()
		<-l.process.done
	}
	l.finish.Do(func() {
		_ = l.process.stdin.Close()
		last := l.stderr.close()
		if !l.closing.Load() {
			if last != "" {
				what += "; its last words: " + last
			}
			l.server.lived(l.since)
			_ = l.server.failed(what, l.answered.Load(), nil)
		}
		l.server.closed()
		close(l.closed)
	})
}

// Close ends the program and everything it started: its input ends, then it is asked, then killed. It returns when it is gone.
func (l *stdioLink) Close() error {
	l.closing.Store(true)
	l.process.end(l.server.config.Stop)
	<-l.process.done
	_ = l.process.stdout.SetReadDeadline(time.Unix(1, 0)) // wakes a Receive whose pipe somebody else still holds
	l.ended()
	_ = l.process.stdout.Close()
	return nil
}
