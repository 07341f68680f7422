package sandbox

import (
	"bytes"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// An outlet lets so many bytes through, of both streams together, and tells when there were more.
type outlet struct {
	mu   sync.Mutex
	left int64
	once sync.Once
	full chan struct{}
}

type outletWriter struct {
	outlet *outlet
	w      io.Writer
}

func (o *outlet) to(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return outletWriter{o, w}
}

func (w outletWriter) Write(p []byte) (int, error) {
	o := w.outlet
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(int64(len(p)), o.left)
	o.left -= n
	if n < int64(len(p)) {
		o.once.Do(func() { close(o.full) })
	}
	if _, err := w.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A head keeps the first bytes of what is written to it: bubblewrap's own complaint.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := 512 - h.text.Len(); room > 0 {
		h.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// line returns the first line, or what the error says where there is none.
func (h *head) line(err error) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, _, _ := strings.Cut(strings.TrimSpace(h.text.String()), "\n")
	if text == "" && err != nil {
		text = err.Error()
	}
	return strings.TrimPrefix(text, "bwrap: ")
}

func duplicate(file *os.File) (*os.File, error) {
	const dupfdCloexec = 1030
	fd, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, file.Fd(), dupfdCloexec, 0)
	if errno != 0 {
		return nil, errno
	}
	return os.NewFile(fd, file.Name()), nil
}

// keepOurs marks everything this process was left open by what started it, so that it ends with us: what the child is
// to have is given to it by name. It holds for every program this process starts from now on.
func keepOurs() {
	const closeRange, onExec = 436, 4 // close_range(2), CLOSE_RANGE_CLOEXEC
	if _, _, errno := syscall.RawSyscall(closeRange, 3, math.MaxUint32, onExec); errno == 0 {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
