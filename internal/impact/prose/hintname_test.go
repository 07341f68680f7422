package prose_test

import (
	"slices"
	"strings"
	"testing"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
	"interlock/internal/impact/prose"
)

func TestSpoken(t *testing.T) {
	for _, test := range []struct {
		hint string
		want []string // among what is named
		not  []string
	}{
		{"Delete All Files", []string{"Delete All Files", "delete_all_files"}, nil},
		{"call mcp-drop-table now", []string{"mcp_drop_table"}, nil},
		{"I am removing the old users. Then resetPassword runs.", []string{"remove_old_users", "reset_password"}, nil},
		{"I will not delete the files.", nil, []string{"delete_files"}},
		{"Explain how to wipe a disk.", nil, []string{"wipe_disk"}},
		{"look at /srv/delete_all/x", nil, []string{"srv_delete_all_x"}},
		{"", []string{""}, nil},
	} {
		got := prose.Spoken(impacttest.Knowledge(t), test.hint)
		for _, name := range test.want {
			if !slices.Contains(got, name) {
				t.Errorf("%q: %q is not in %q", test.hint, name, got)
			}
		}
		for _, name := range test.not {
			if slices.Contains(got, name) {
				t.Errorf("%q: %q is in %q", test.hint, name, got)
			}
		}
	}
}

// FuzzSpoken: what is named is bounded, begins with the hint, and is the same when asked again.
func FuzzSpoken(f *testing.F) {
	know := impacttest.Knowledge(f)
	for _, seed := range []string{"", "Delete All", "a_b c-d eF", strings.Repeat("delete x. ", 200), "\xff", "not delete_all"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hint string) {
		got := prose.Spoken(know, hint)
		if len(got) == 0 || len(got) > 256 || !slices.Equal(got, prose.Spoken(know, hint)) {
			t.Errorf("%q: %d names", hint, len(got))
		}
		if len(hint) < fact.MaxInput && got[0] != strings.TrimSpace(hint) {
			t.Errorf("%q: begins with %q", hint, got[0])
		}
	})
}
