package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/store/sqlite"
)

// File is the store's name in a home.
const File = "interlock.db"

// Options configure a store, whichever backend a home has.
type Options struct {
	Sealer   sqlite.Sealer // turns drafts into entries and signs the head that covers them; required unless ReadOnly
	ReadOnly bool          // for auditors: nothing is created or changed
	Brief    bool          // the process makes a few commits and exits
	Begun    bool          // a log was begun here: if it is missing or empty, it is lost and no other is begun in its place
	Patience time.Duration // how long to wait for another process; 0 is the backend's own
	Now      func() time.Time
	// Noticed is told once of each row that stands and that Interlock has not written so, and of each that is gone; may be nil
	Noticed func(*ledger.Tampered)
	Needs   []Part // what the store must have beside the port; without one of them it is not opened
}

// Open opens the store of a home, creating it if there is none and it isn't only to be read. The home must exist.
//
// This is where a backend is chosen. A second one is a second case here, which says what of the optional parts it has.
func Open(home string, o Options) (*Store, error) {
	s, err := openSQLite(home, o)
	if err != nil {
		return nil, err
	}
	return needed(s, o.Needs)
}

// openSQLite opens the backend that keeps everything in one file of the home.
func openSQLite(home string, o Options) (*Store, error) {
	reached := filepath.Join(home, sqlite.ReachedName)
	kept, err := sqlite.Open(filepath.Join(home, File), sqlite.Options{Sealer: o.Sealer, ReadOnly: o.ReadOnly, Brief: o.Brief,
		Begun: o.Begun, Patience: o.Patience, Now: o.Now, Noticed: o.Noticed, Reached: func() int64 { return readReached(reached) }})
	if err != nil {
		return nil, err
	}
	if version, brought := kept.Version(); !o.ReadOnly && (brought || !o.Brief && readReached(reached) < version) {
		if err := os.WriteFile(reached, fmt.Appendf(nil, "%d\n", version), 0o600); err != nil {
			return nil, errors.Join(interlock.Errorf(interlock.CodeUnavailable, "store", "it can't be noted beside the store which version "+
				"it has now: %s", fileio.Reason(err)), kept.Close())
		}
	}
	s := &Store{Port: kept, Checking: kept}
	if !o.ReadOnly {
		s.Archiving, s.Mending = kept, kept
	}
	return s, nil
}

// readReached is the newest version that the store of a home has had, as noted beside it. What can't be read says nothing: whoever can
// take it away can read the key that proves everything.
func readReached(path string) int64 {
	text, err := fileio.Plain(path, 64)
	if err != nil {
		return 0
	}
	version, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // 0 where it is no number
	return version
}

// needed closes a store that lacks a part.
func needed(s *Store, parts []Part) (*Store, error) {
	if err := s.Need(parts...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Exists reports whether a home has a store, sound or not.
func Exists(home string) bool {
	_, err := os.Lstat(filepath.Join(home, File))
	return err == nil
}
