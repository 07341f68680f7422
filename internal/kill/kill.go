// Package kill keeps the file that stops everything. It is in the home, every process looks for it before each permit, and it
// stops what it can't read: a person who can do nothing else, because the store is locked, the key is elsewhere or the program is
// damaged, stops all agents of a home with `touch`. The order beside it in the ledger is what proves who stopped what, and why.
//
// Where the system tells of changes to a directory (inotify), a look that found nothing counts until it tells of one, and for
// [relook] at most: what it does not tell of, such as a home that is another file system's by now or a change that another
// machine made, is seen within that time. Everywhere else every look is at the file.
//
// What it must never do: take a file that is there, or that it can't tell of, for none.
package kill

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"interlock/internal/fileio"
	"interlock/internal/ledger"
)

// File is the name of the file within the home.
const File = "killed"

// maxFile is how much of the file is read, in bytes.
const maxFile = 8 << 10

// relook is how long a look counts at most that found no file.
const relook = 10 * time.Millisecond

// watchAfter is after how many looks the home is watched: a process that decides once and exits need not.
const watchAfter = 8

// A Switch is the file of one home.
type Switch struct {
	path string

	mu      sync.Mutex // held for a look, so that nobody relies on one that is not over
	looks   int
	home    *watcher  // nil: nobody tells of changes
	nothing time.Time // when it was last looked and nothing found; the zero value: something was
}

// In is the switch of a home.
func In(home string) *Switch { return &Switch{path: filepath.Join(home, File)} }

// Path is where the file is, or would be.
func (s *Switch) Path() string { return s.path }

// said is what the file says. Whatever else it holds says that everything is stopped, hard.
type said struct {
	Mode  ledger.KillMode `json:"mode"`
	Why   string          `json:"why"`
	By    string          `json:"by"`
	Since time.Time       `json:"since"`
}

// Thrown reports whether everything is stopped, and what the file says of it. What can't be looked at, or read, counts as thrown.
func (s *Switch) Thrown() (ledger.HoldBody, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.home.quiet() && time.Since(s.nothing) < relook {
		return ledger.HoldBody{}, false
	}
	if s.looks++; s.home.gone() && s.looks%watchAfter == 0 {
		s.home = watch(filepath.Dir(s.path))
	}
	s.nothing = time.Now() // before the look: what changes during it is told of
	h, thrown := s.look()
	if thrown {
		s.nothing = time.Time{}
	}
	return h, thrown
}

// look is [Switch.Thrown] at the file.
func (s *Switch) look() (ledger.HoldBody, bool) {
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) && homeStands(s.path) {
		return ledger.HoldBody{}, false
	}
	if err != nil {
		return ledger.Kill(ledger.KillHard, "it can't be told whether everything is stopped: "+fileio.Reason(err), "", time.Time{}), true
	}
	text, err := fileio.Plain(s.path, maxFile)
	what := said{}
	if err != nil || json.Unmarshal(text, &what) != nil || what.Since.IsZero() {
		return ledger.Kill(ledger.KillHard, "the file "+File+" stands in the home", "", info.ModTime().UTC()), true
	}
	return ledger.Kill(what.Mode, what.Why, what.By, what.Since.UTC()), true
}

// homeStands reports whether the file's directory is there: a home that is gone, such as one on a disk that is no longer mounted,
// says nothing of what is in it.
func homeStands(path string) bool {
	info, err := os.Lstat(filepath.Dir(path))
	return err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0)
}

// Throw writes the file, durably. A file that is there is replaced only by a stop that has come further.
func (s *Switch) Throw(h ledger.HoldBody, now time.Time) error {
	if stands, thrown := s.Thrown(); thrown && ledger.Stricter(stands, h, now).Since.Equal(stands.Since) {
		return nil
	}
	text, err := json.Marshal(said{h.Mode, h.Why, h.By, h.Since})
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(s.path), File+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already if all went well
	if _, err = temporary.Write(append(text, '\n')); err == nil {
		err = temporary.Sync()
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary.Name(), s.path)
	}
	return err
}

// Clear removes the file. It is for the code that carries out an order that ends the stop.
func (s *Switch) Clear() error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Watch looks at the switch again and again, and calls on each time the stop has come further than it had. It returns when ctx ends.
func (s *Switch) Watch(ctx context.Context, every time.Duration, now func() time.Time,
	on func(ledger.KillStep, ledger.HoldBody)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	last := ledger.KillNone
	for {
		step := ledger.KillNone
		h, thrown := s.Thrown()
		if thrown {
			step = h.Step(now())
		}
		if step != last {
			last = step
			on(step, h)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
