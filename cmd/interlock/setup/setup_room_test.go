package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/console"
)

// TestSetupLooksForRoomFirst asks disks of any size, which the test makes up: nothing is written on one that is too full.
func TestSetupLooksForRoomFirst(t *testing.T) {
	const mb = 1 << 20
	top := t.TempDir()
	from := filepath.Join(top, "interlock")
	if err := os.WriteFile(from, make([]byte, 3*mb), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(top, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &setup{home: filepath.Join(top, "not", "yet"), copies: []programCopy{{from: from, to: filepath.Join(top, "bin", "interlock")}}}
	for _, disk := range []struct {
		name      string
		home, bin uint64 // free, in MB
		says      string
	}{
		{"room for both", 11, 11, ""},
		{"two disks", 8, 3, ""},
		{"room for each, not for both", 10, 10, "the disk of " + top + "/bin is full: 10 MB are free and 11 MB are needed; free some space"},
		{"none for the home", 7, 100, "the disk of " + top + " is full: 7 MB are free and 8 MB are needed; free some space"},
		{"none for the programs", 100, 2, "the disk of " + top + "/bin is full: 2 MB are free and 3 MB are needed; free some space"},
	} {
		t.Run(disk.name, func(t *testing.T) {
			err := s.lookRoom(func(dir string) (console.Space, error) {
				if dir == top {
					return console.Space{Free: disk.home * mb, Total: 1 << 40}, nil
				}
				return console.Space{Free: disk.bin * mb, Total: 1 << 40}, nil
			})
			if said := errorText(err); filepath.ToSlash(said) != filepath.ToSlash(disk.says) {
				t.Errorf("%q, want %q", said, disk.says)
			}
		})
	}
	if err := s.lookRoom(func(string) (console.Space, error) { return console.Space{}, errors.New("no") }); err != nil {
		t.Errorf("a disk that can't be asked is refused: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
