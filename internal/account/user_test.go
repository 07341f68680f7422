//go:build unix && !darwin && !ios

package account

import (
	"os"
	"testing"
)

func TestOf(t *testing.T) {
	if got := Of(os.Getuid()); got.Name != Name() {
		t.Errorf("this user is %q and not %q", got.Name, Name())
	}
	if got := Of(64199); got != (User{Name: "uid:64199"}) {
		t.Errorf("a user without a name is %+v", got)
	}
}

func TestHomeIn(t *testing.T) {
	table := "root:x:0:0:root:/root:/bin/sh\nolga:x:1000:100:Olga:/home/olga/:/bin/sh\nnobody:x:2:2::/:/bin/sh\nrel:x:3:3::home:/bin/sh\nshort:x:4\n"
	for name, want := range map[string]string{"root": "/root", "olga": "/home/olga", "nobody": "", "rel": "", "short": "", "none": ""} {
		if got := homeIn([]byte(table), name); got != want {
			t.Errorf("%s lives in %q, want %q", name, got, want)
		}
	}
}
