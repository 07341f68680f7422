package main

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/store"
)

// What somebody does to the store with an SQL shell is named by audit verify, which exits 1.
func TestAuditVerifyNamesTampering(t *testing.T) {
	command := func(home string, args ...string) (int, string) {
		var out bytes.Buffer
		env := func(name string) string {
			return map[string]string{"INTERLOCK_HOME": home, "HOME": home, "USER": "tester",
				"SSH_ASKPASS": "sesame", "SSH_ASKPASS_REQUIRE": "force"}[name]
		}
		code := run(context.Background(), append(args, "--home", home), env, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for name, test := range map[string]struct{ statement, want string }{
		"edit":     {`UPDATE entries SET body = replace(body, 'two', 'six') WHERE idx = 3`, "entry 3 (event "},
		"delete":   {`DELETE FROM entries WHERE idx = 2`, "entry 2: it was removed"},
		"truncate": {`DELETE FROM entries WHERE idx > 2`, "entry 3: it was removed"},
		"insert":   {`INSERT INTO entries SELECT 5, id, type, body, hashes, checkpoint, inputs FROM entries WHERE idx = 1`, "entry 5 (event "},
		"reorder":  {`UPDATE entries SET idx = CASE idx WHEN 3 THEN -4 ELSE -3 END WHERE idx IN (3, 4); UPDATE entries SET idx = -idx WHERE idx < 0`, "entry 3 (event "},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			key := governed(t, home)
			for _, agent := range []string{"two", "three"} {
				if code, out := command(home, "agent", "add", agent, "--no-token", "--key", key); code != 0 {
					t.Fatal(out)
				}
			}
			if code, out := command(home, "audit", "verify"); code != 0 || !strings.Contains(out, "5 entries") {
				t.Fatalf("before: %d %s", code, out)
			}
			db, err := sql.Open("sqlite", filepath.Join(home, store.File(home)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(test.statement); err != nil {
				t.Fatal(err)
			}
			db.Close()
			if code, out := command(home, "audit", "verify", "--json"); code != 1 || !strings.Contains(out, `"error":"INTEGRITY_FAILURE"`) {
				t.Errorf("exit %d: %s", code, out)
			}
			if code, out := command(home, "audit", "verify"); code != 1 || !strings.Contains(out, test.want) || !strings.Contains(out, "INTEGRITY_FAILURE") {
				t.Errorf("exit %d: %s; want 1 and %q", code, out, test.want)
			}
			if err := os.Remove(filepath.Join(home, store.File(home))); err != nil {
				t.Fatal(err)
			}
			if code, _ := command(home, "audit", "verify"); code != 1 {
				t.Errorf("without a store it exits %d", code)
			}
		})
	}
}
