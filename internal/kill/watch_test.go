package kill_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"interlock/internal/kill"
)

// TestSeenAtOnce: however often it was looked for and not there, whatever appears under the file's name stops the very next look,
// and one that is gone lets the next one go on.
func TestSeenAtOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	other := filepath.Join(t.TempDir(), "other")
	for _, err := range []error{os.Mkdir(home, 0o700), os.WriteFile(other, nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := kill.In(home)
	ways := map[string]func() error{
		"touch":     func() error { return os.WriteFile(s.Path(), nil, 0o600) },
		"mkdir":     func() error { return os.Mkdir(s.Path(), 0o700) },
		"hard link": func() error { return os.Link(other, s.Path()) },
		"symlink":   func() error { return os.Symlink("nowhere", s.Path()) },
		"rename": func() error {
			if err := os.WriteFile(other+"2", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(other+"2", s.Path())
		},
		"the home is moved": func() error { return os.Rename(home, home+"2") },
	}
	for round := range 20 {
		for way, do := range ways {
			for range 20 {
				if h, thrown := s.Thrown(); thrown {
					t.Fatalf("round %d, before %s: %+v", round, way, h)
				}
			}
			if err := do(); err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			if _, thrown := s.Thrown(); !thrown {
				t.Fatalf("round %d: %s was not seen", round, way)
			}
			_ = os.Rename(home+"2", home)
			if err := os.RemoveAll(s.Path()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSeenByAll: of many who look at once none misses a file that stood before its look began.
func TestSeenByAll(t *testing.T) {
	s := kill.In(t.TempDir())
	for range 100 {
		s.Thrown()
	}
	var wait sync.WaitGroup
	stands := make(chan struct{})
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stands:
					if _, thrown := s.Thrown(); !thrown {
						t.Error("a look that began after the file stood missed it")
					}
					return
				default:
					s.Thrown()
				}
			}
		})
	}
	if err := os.WriteFile(s.Path(), nil, 0o600); err != nil {
		t.Error(err)
	}
	close(stands)
	wait.Wait()
}
