package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"interlock"
)

// A run is one entry of the registry: what another process must know of it to stay out of its way while it lives, and to
// clear up behind it when it was killed. Its lock is held for as long as the run's process lives, and the kernel lets go
// of it whatever ends that.
type run struct {
	id   string
	dir  string // of its own, in the registry
	lock *os.File
}

// runRecord is what a run leaves for others to read.
type runRecord struct {
	Workspace string   `json:"workspace"`
	Writes    bool     `json:"writes"` // into the workspace itself
	Groups    []string `json:"groups"`
}

// register sweeps, waits until no other run is in the way, and enters a run.
func register(ctx context.Context, s Spec) (*run, error) {
	if err := os.MkdirAll(filepath.Join(s.State, "runs"), 0o700); err != nil {
		return nil, fmt.Errorf("making the sandbox's directory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Limits.Time)
	defer cancel()
	for {
		r, err := tryRegister(s)
		if r != nil || err != nil {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, interlock.Errorf(interlock.CodeLimited, "",
				"another sandbox writes to this workspace; wait until it is done, or write to a throw-away copy with --overlay")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryRegister enters a run under the registry's lock, or returns nil while another one is in the way.
func tryRegister(s Spec) (*run, error) {
	gate, err := locked(filepath.Join(s.State, "lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	defer gate.Close()
	others, err := sweep(s.State)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if inTheWay(other, s) {
			return nil, nil
		}
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	r := &run{id: hex.EncodeToString(random[:])}
	r.dir = filepath.Join(s.State, "runs", r.id)
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the run's directory: %w", err)
	}
	if r.lock, err = locked(filepath.Join(r.dir, "lock"), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return r, r.record(runRecord{Workspace: s.Workspace, Writes: !s.Overlay})
}

// inTheWay reports whether a run that goes on now could move things in the other's workspace while its walls are built:
// then one could make the other mount something that lies elsewhere.
func inTheWay(other runRecord, s Spec) bool {
	same := other.Workspace == s.Workspace
	nested := inside(other.Workspace, s.Workspace) || inside(s.Workspace, other.Workspace)
	switch {
	case same:
		return other.Writes && !s.Overlay
	case nested:
		return other.Writes || !s.Overlay
	default:
		return false
	}
}

func inside(dir, path string) bool { return strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") }

func (r *run) record(record runRecord) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	// Put in place whole: others read it at any moment, and one that is half written would say that nobody is in their way.
	written := filepath.Join(r.dir, "run.json.new")
	if err := os.WriteFile(written, text, 0o600); err != nil {
		return err
	}
	return os.Rename(written, filepath.Join(r.dir, "run.json"))
}

// end takes the run out of the registry, under the registry's lock: a sweep in between would put a lock file back into the
// directory that is being removed.
func (r *run) end() error {
	defer r.lock.Close()
	gate, err := locked(filepath.Join(filepath.Dir(filepath.Dir(r.dir)), "lock"), syscall.LOCK_EX)
	if err != nil {
		return fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	defer gate.Close()
	return os.RemoveAll(r.dir)
}

// sweep clears up behind runs whose process was killed, as each run does before it begins, and returns what goes on now.
// The registry's lock is held.
func sweep(state string) ([]runRecord, error) {
	entries, err := os.ReadDir(filepath.Join(state, "runs"))
	if err != nil {
		return nil, err
	}
	var live []runRecord
	for _, entry := range entries {
		dir := filepath.Join(state, "runs", entry.Name())
		var record runRecord
		text, err := os.ReadFile(filepath.Join(dir, "run.json"))
		if err == nil {
			err = json.Unmarshal(text, &record)
		}
		lock, lockErr := locked(filepath.Join(dir, "lock"), syscall.LOCK_EX|syscall.LOCK_NB)
		if lockErr != nil {
			if err != nil { // it lives, and where it writes can't be read: then it could be anywhere
				record = runRecord{Workspace: "/", Writes: true}
			}
			live = append(live, record)
			continue
		}
		// Only directories that this package made are ever named here; another's entry could name anything.
		groups := record.Groups[:0]
		for _, group := range record.Groups {
			if filepath.Base(group) == groupPrefix+entry.Name() {
				groups = append(groups, group)
			}
		}
		err = removeGroups(groups)
		lock.Close()
		if err == nil {
			err = os.RemoveAll(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("clearing up behind a run that was killed: %w", err)
		}
	}
	return live, nil
}

func locked(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
