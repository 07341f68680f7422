package store

import (
	"errors"
	"os"
	"path/filepath"

	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
)

// A backend is one way to keep a store: the file by which a home has it, and what opens that.
type backend struct {
	file string
	open func(path string, o driver.Options) (Port, error)
}

// backends are all that there are, and the only place that names one; a second is a folder, and a row here. A new home gets the first.
func backends() []backend { return []backend{{sqlite.File, opens(sqlite.Open)}} }

// opens has the compiler hold a backend against the port.
func opens[S Port](open func(path string, o driver.Options) (S, error)) func(path string, o driver.Options) (Port, error) {
	return func(path string, o driver.Options) (Port, error) { return open(path, o) }
}

// of is the backend that a home has, or gets, and where.
func of(home string) (b backend, path string, exists bool) {
	all := backends()
	for _, b := range all {
		path := filepath.Join(home, b.file)
		if _, err := os.Lstat(path); err == nil {
			return b, path, true
		}
	}
	return all[0], filepath.Join(home, all[0].file), false
}

// Options configure a store, whichever backend a home has.
type Options = driver.Options

// Open opens the store of a home, creating it if there is none and it isn't only to be read. The home must exist.
func Open(home string, o Options) (*Store, error) {
	b, path, _ := of(home)
	kept, err := b.open(path, o)
	if err != nil {
		return nil, err
	}
	s := &Store{Port: kept}
	s.Checking, _ = kept.(Checking)
	if !o.ReadOnly {
		s.Archiving, _ = kept.(Archiving)
		s.Mending, _ = kept.(Mending)
	}
	if err := s.Need(o.Needs...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Exists reports whether a home has a store, sound or not.
func Exists(home string) bool {
	_, _, exists := of(home)
	return exists
}

// File is the name of a home's store in it.
func File(home string) string {
	b, _, _ := of(home)
	return b.file
}
