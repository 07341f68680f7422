package kill

import (
	"encoding/binary"
	"runtime"
	"syscall"
)

// A watcher hears from the kernel of files that appear in a directory. That is queued before the call returns that made the file,
// so that asking afterwards finds it: nothing waits for a goroutine.
type watcher struct {
	fd     int
	lost   bool // the directory is another one by now
	events [4 << 10]byte
}

// What a directory is watched for: files that appear, and that it goes.
const (
	appears = syscall.IN_CREATE | syscall.IN_MOVED_TO
	goes    = syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF
	loses   = goes | syscall.IN_UNMOUNT | syscall.IN_IGNORED | syscall.IN_Q_OVERFLOW
)

// watch begins to watch a directory; nil where that can't be.
func watch(dir string) *watcher {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	if _, err := syscall.InotifyAddWatch(fd, dir, appears|goes|syscall.IN_ONLYDIR); err != nil {
		syscall.Close(fd)
		return nil
	}
	w := &watcher{fd: fd}
	runtime.AddCleanup(w, func(fd int) { syscall.Close(fd) }, fd)
	return w
}

// quiet reports whether nothing has happened since it was asked last. What can't be asked is not quiet.
func (w *watcher) quiet() bool {
	if w == nil || w.lost {
		return false
	}
	quiet := true
	for {
		n, err := syscall.Read(w.fd, w.events[:])
		if err == syscall.EAGAIN {
			return quiet
		}
		if quiet = false; err == syscall.EINTR {
			continue
		}
		if err != nil || n < syscall.SizeofInotifyEvent {
			w.lost = true
			return false
		}
		for at := 0; at+syscall.SizeofInotifyEvent <= n; {
			mask, name := binary.NativeEndian.Uint32(w.events[at+4:]), binary.NativeEndian.Uint32(w.events[at+12:])
			w.lost = w.lost || mask&loses != 0
			at += syscall.SizeofInotifyEvent + int(name)
		}
		if w.lost {
			return false
		}
	}
}

// gone reports whether nobody tells of changes.
func (w *watcher) gone() bool { return w == nil || w.lost }
