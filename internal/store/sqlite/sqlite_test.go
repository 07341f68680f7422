package sqlite_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
	"interlock/spec"
	"interlock/test/wait"
)

var _ admission.Store = (*sqlite.Store)(nil)

// fixed is the randomness of test keys: visibly no secret.
type fixed byte

func (f fixed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func sealer(t testing.TB, number byte) *auditlog.Sealer {
	t.Helper()
	private, _, err := auditlog.GenerateKey(fixed(number))
	if err != nil {
		t.Fatal(err)
	}
	s, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newPath returns where a test's store goes: in a directory for its owner alone.
func newPath(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "interlock.db")
}

func options(t testing.TB) driver.Options {
	return driver.Options{Sealer: sealer(t, 1), Now: func() time.Time { return storagetest.Now }}
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verify verifies a store's log and returns the report.
func verify(t testing.TB, path string, earlier ...[]byte) auditlog.Report {
	t.Helper()
	s, err := sqlite.Open(path, driver.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	report, err := auditlog.Verify(t.Context(), s, sealer(t, 1).Public(), auditlog.VerifyOptions{Earlier: earlier})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func sound(t testing.TB, path string) (int64, bool) {
	t.Helper()
	report := verify(t, path)
	if report.Problem != nil {
		t.Log(report.Problem)
	}
	return report.Entries, report.Problem == nil
}

func TestContract(t *testing.T) {
	for name, brief := range map[string]bool{"server": false, "brief": true} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, func(t testing.TB) storagetest.Place {
				o := options(t)
				o.Brief = brief
				return placeOf(newPath(t), o)
			})
		})
	}
}

// placeOf is where a store is kept that is opened with these options.
func placeOf(path string, o driver.Options) storagetest.Place {
	return editable(path, o, storagetest.Place{
		Open: func(t testing.TB) storagetest.Store {
			s, err := sqlite.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Verify: func(t testing.TB) (int64, bool) { return sound(t, path) },
	})
}

// raw opens the file behind the store's back.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// unguarded takes away what keeps older programs from writing: whoever edits the file can.
const unguarded = "DROP TRIGGER head_proved"

func must(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestPragmas(t *testing.T) {
	path := newPath(t)
	open(t, path).Close()
	db := raw(t, path)
	for pragma, want := range map[string]string{"journal_mode": "wal", "user_version": "10", "synchronous": "2", "page_size": "4096"} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v), want 0600", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	spec.Covers(t, "MACE-1-5")
	for _, test := range []struct {
		name   string
		damage func(t *testing.T, path string)
		key    byte
		say    string
	}{
		{"another key", func(*testing.T, string) {}, 2, "put the key back"},
		{"newer schema", func(t *testing.T, path string) { must(t, raw(t, path), "PRAGMA user_version = 11") }, 1, "newer Interlock"},
		{"file writable by others", func(t *testing.T, path string) { chmod(t, path, 0o620) }, 1, "chmod 600"},
		{"directory writable by others", func(t *testing.T, path string) { chmod(t, filepath.Dir(path), 0o777) }, 1, "chmod 700"},
		{"not a database", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("hello", 4096)), 0o600); err != nil {
				t.Fatal(err)
			}
			os.Remove(path + "-wal")
		}, 1, "damaged"},
		{"head row gone", func(t *testing.T, path string) { must(t, raw(t, path), "DELETE FROM head") }, 1, "lost the head"},
		{"head rolled back", func(t *testing.T, path string) { must(t, raw(t, path), unguarded, "UPDATE head SET size = 2") }, 1, "put the key back"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			for range 3 {
				if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
			test.damage(t, path)
			o := options(t)
			o.Sealer = sealer(t, test.key)
			s, err := sqlite.Open(path, o)
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), test.say) {
				t.Errorf("the error %q does not say %q", err, test.say)
			}
			if strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("the error shows a path: %v", err)
			}
		})
	}
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "no", "interlock.db"), options(t)); err == nil {
		t.Error("it opened in a directory that does not exist")
	}
	if _, err := sqlite.Open(newPath(t), driver.Options{ReadOnly: true}); err == nil {
		t.Error("a store that does not exist was opened for reading")
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// The write-ahead log does not grow for ever: neither under one writer that never pauses nor under processes that open the
// store for one commit while somebody else keeps it open.
func TestWriteAheadLogIsBounded(t *testing.T) {
	path := newPath(t)
	big := storagetest.Decision("big")
	big.Events[0].Payload = []byte(`{"x":"` + strings.Repeat("y", 48<<10) + `"}`)
	wal := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	s := open(t, path)
	defer s.Close()
	for range 800 { // about 40 MB
		if _, err := s.Commit(t.Context(), big); err != nil {
			t.Fatal(err)
		}
	}
	if got := wal(); got > 24<<20 {
		t.Errorf("after 40 MB from one writer the write-ahead log is %d bytes long", got)
	}
	o := options(t)
	o.Brief = true
	for range 100 { // about 5 MB
		hook, err := sqlite.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hook.Commit(t.Context(), big); err != nil {
			t.Fatal(err)
		}
		if err := hook.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := wal(); got > 2<<20 {
		t.Errorf("after a hundred hooks the write-ahead log is %d bytes long", got)
	}
	if n, ok := sound(t, path); !ok || n != 900 {
		t.Errorf("%d entries, sound %v", n, ok)
	}
}

// A lone caller's commit is small but writes whole pages, and those are what the write-ahead log grows by.
func TestWriteAheadLogIsBoundedForSmallCommits(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	for range 1500 { // about 24 MB of pages for less than 2 MB of entries
		if _, err := s.Commit(t.Context(), storagetest.Decision("small")); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 16<<20 {
		t.Errorf("after 1500 small commits the write-ahead log is %d bytes long", info.Size())
	}
}

// Old calls are forgotten, new ones are not.
func TestOldCallsAreForgotten(t *testing.T) {
	path := newPath(t)
	o := options(t)
	o.Brief = true
	big := storagetest.Decision("run")
	big.Events[0].Payload = []byte(`{"x":"` + strings.Repeat("y", 50<<10) + `"}`)
	for i := range 40 {
		s, err := sqlite.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		c := big
		at := storagetest.Now.Add(-48 * time.Hour)
		if i%2 == 1 {
			at = storagetest.Now
		}
		c.Writes = ledger.Rows(ledger.CallBody{Requester: interlock.Requester{Agent: "agent", Run: "run", Call: fmt.Sprint("c", i)},
			Action: "sha256:aa", At: at})
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	var old, young int
	db := raw(t, path)
	if err := db.QueryRow("SELECT COUNT(*) FILTER (WHERE at < ?), COUNT(*) FILTER (WHERE at >= ?) FROM calls",
		storagetest.Now.Add(-24*time.Hour).UnixNano(), storagetest.Now.Add(-24*time.Hour).UnixNano()).Scan(&old, &young); err != nil {
		t.Fatal(err)
	}
	if young != 20 || old > 10 {
		t.Errorf("%d old and %d young calls are left, want at most 10 and 20", old, young)
	}
}

// What a run has done is forgotten an hour after its last step, and nothing else with it.
func TestIdleExecutionsAreForgotten(t *testing.T) {
	path, now := newPath(t), storagetest.Now
	o := options(t)
	o.Now = func() time.Time { return now }
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	c := storagetest.Decision("run")
	c.Writes = ledger.Rows(interlock.AgentRecord{ID: "agent"})
	for i, seen := range []time.Duration{0, 30 * time.Minute} {
		run := fmt.Sprint("run", i)
		row, err := ledger.Put(ledger.Execution, ledger.ExecutionKey("p", "agent", run),
			ledger.Done{Principal: "p", Agent: "agent", Run: run, Steps: 1, Seen: now.Add(seen)})
		if err != nil {
			t.Fatal(err)
		}
		c.Writes = append(c.Writes, row)
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	now = now.Add(ledger.IdleExecution + time.Minute)
	sqlite.Tidy(s)
	s.Close()
	var runs, agents int
	if err := raw(t, path).QueryRow(`SELECT (SELECT count(*) FROM passing WHERE kind = 'execution'),
		(SELECT count(*) FROM rows WHERE kind = 'agent')`).Scan(&runs, &agents); err != nil {
		t.Fatal(err)
	}
	if runs != 1 || agents != 1 {
		t.Errorf("%d runs and %d agents are left, want one of each", runs, agents)
	}
}

// A store that can't be written refuses in a sentence.
func TestReadOnlyStore(t *testing.T) {
	path := newPath(t)
	prepare(t, path)
	var writer sqldriver.Conn
	s, err := sqlite.OpenWrapped(path, options(t), func(c sqldriver.Conn) sqldriver.Conn {
		if writer == nil {
			writer = c
		}
		return c
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Query-only gives the error that a read-only disk gives, for root too.
	if _, err := writer.(sqldriver.ExecerContext).ExecContext(t.Context(), "PRAGMA query_only = 1", nil); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(t.Context(), storagetest.Decision("a"))
	var sentence *interlock.Error
	if !errors.As(err, &sentence) || sentence.Code != interlock.CodeUnavailable || !strings.Contains(sentence.Message, "read-only") {
		t.Errorf("the error is %v", err)
	}
}

// A store whose pages were overwritten stops with a sentence and does not go on.
func TestCorruptStore(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	for range 200 {
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	junk := []byte(strings.Repeat("junk", 1024))
	for at := int64(4096); at < info.Size(); at += 4096 {
		if _, err := f.WriteAt(junk, at); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	s, err = sqlite.Open(path, options(t))
	if err == nil {
		_, err = s.Commit(t.Context(), storagetest.Decision("a"))
		s.Close()
	}
	var sentence *interlock.Error
	if !errors.As(err, &sentence) || !strings.Contains(sentence.Message, "damaged") {
		t.Errorf("the error is %v", err)
	}
}

// The path may hold what means something in a connection string.
func TestOddPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%41&mode=memory")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "inter%20lock?.db")
	s := open(t, path)
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if n, ok := sound(t, path); n != 1 || !ok {
		t.Errorf("%d entries, sound %v", n, ok)
	}
}

// A visitor may read the store while it walks the log, and many may read at once.
func TestReadingWhileWalking(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	defer s.Close()
	for range 20 {
		if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 40 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := s.Walk(context.Background(), func(e interlock.Entry) error {
				found, ok, err := s.Entry(context.Background(), e.ID)
				if err == nil && (!ok || found.Index != e.Index) {
					err = fmt.Errorf("entry %d: found %v at %d", e.Index, ok, found.Index)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
}

// What others have changed is known without a conflict too, once what is remembered is old.
func TestKnownIsReadAgain(t *testing.T) {
	path := newPath(t)
	one, two := open(t, path), open(t, path)
	defer one.Close()
	defer two.Close()
	if _, _, err := one.Recall(t.Context(), storagetest.Everything()...); err != nil {
		t.Fatal(err)
	}
	c := storagetest.Decision("a")
	c.Writes = ledger.Rows(*storagetest.Request("r1")) // moves no version, so nothing would refuse a change
	if _, err := two.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	sqlite.Age(one)
	rows, _, err := one.Recall(t.Context(), storagetest.Everything()...)
	if err != nil || len(rows) != 1 || rows[0].Key != "r1" {
		t.Errorf("there are %+v, %v", rows, err)
	}
}

// TestCloseWaitsForReaders: a store that is closed while something is read refuses new reads at once, also from within the
// reading, and closes no connection before the reading has ended.
func TestCloseWaitsForReaders(t *testing.T) {
	store := open(t, newPath(t))
	if _, err := store.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Fatal(err)
	}
	reading, proceed, walked := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		walked <- store.Walk(t.Context(), func(interlock.Entry) error {
			close(reading)
			<-proceed
			return nil
		})
	}()
	<-reading
	closed := make(chan error, 1)
	go func() { closed <- store.Close() }()
	for { // until Close has begun
		if _, err := store.Head(t.Context()); err != nil {
			break
		}
	}
	wait.Chance(200 * time.Millisecond)
	select { // a Close that waits never gets here first, however long this takes
	case <-closed:
		t.Error("the store was closed under a reading step")
	default:
	}
	close(proceed)
	if err := <-walked; err != nil {
		t.Errorf("the reading under way ended with %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
