//go:build unix && !darwin && !ios

package account

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

func TestNameIn(t *testing.T) {
	table := "root:x:0:0:root:/root:/bin/sh\n" +
		"# kim:x:1000:1000::/home/kim:/bin/sh\n" +
		"+nis:x:1000:1000::/:/bin/sh\n-gone:x:1000:1000::/:/bin/sh\n:x:1000:1000::/:/bin/sh\n" +
		"olga:x:1000:100:Olga:/home/olga:/bin/sh\n" +
		"second:x:1000:100::/home/second:/bin/sh\n" +
		"short:x\nnumber:x:7\n\n" +
		"group:x:12:34:0:/:\n" +
		"last:x:99:99::/:/bin/sh"
	for _, c := range []struct {
		uid  int
		want string
	}{{0, "root"}, {1000, "olga"}, {99, "last"}, {7, ""}, {34, ""}, {100, ""}, {-1, ""}, {10, ""}} {
		if got := nameIn([]byte(table), c.uid); got != c.want {
			t.Errorf("user %d is called %q, want %q", c.uid, got, c.want)
		}
	}
}

// A name has no byte that ends it, whatever the table is.
func FuzzNameIn(f *testing.F) {
	f.Add([]byte("root:x:0:0::/:/bin/sh\n"), 0)
	f.Add([]byte("a:b:1:\n::2:\n\x00:\x00:3:\n"), 3)
	f.Fuzz(func(t *testing.T, table []byte, uid int) {
		for _, c := range []byte(nameIn(table, uid)) {
			if c == ':' || c == '\n' {
				t.Fatalf("a name with %q", c)
			}
		}
	})
}

// The system's word counts, and no variable's.
func TestNameIgnoresEnvironment(t *testing.T) {
	before := Name()
	for _, variable := range []string{"USER", "LOGNAME", "USERNAME", "HOME"} {
		t.Setenv(variable, "somebody-else")
	}
	if got := Name(); got != before || got == "somebody-else" {
		t.Errorf("the user is %q, and was %q before the environment changed", got, before)
	}
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil && u.Username != before && before != "uid:"+u.Uid {
		t.Errorf("the user is %q, and %q to os/user", before, u.Username)
	}
}

// BenchmarkName: every call of a hook pays this. Budget: 0.2 ms.
func BenchmarkName(b *testing.B) {
	for b.Loop() {
		Name()
	}
}
