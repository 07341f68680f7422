package sqlite_test

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
)

// TestMain lets the test binary be the other processes: INTERLOCK_STORE_CHILD says what to do.
func TestMain(m *testing.M) {
	if task := os.Getenv("INTERLOCK_STORE_CHILD"); task != "" {
		if err := child(strings.Fields(task)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child runs one of the tasks of another process.
func child(task []string) error {
	tb := &testing.T{} // only for building the sealer, which can't fail
	path := os.Getenv("INTERLOCK_STORE_PATH")
	o := options(tb)
	o.Brief = task[0] == "hook"
	switch task[0] {
	case "commit", "hook": // commit N times, each in a store opened anew if hook; print every receipt
		n, _ := strconv.Atoi(task[1])
		var s *sqlite.Store
		var err error
		for i := range n {
			if s == nil || o.Brief {
				if s, err = sqlite.Open(path, o); err != nil {
					return err
				}
			}
			if _, err := storagetest.Whole(context.Background(), s); err != nil {
				return err
			}
			r, err := s.Commit(context.Background(), storagetest.Decision("run"+strconv.Itoa(i%3)))
			if err != nil {
				return err
			}
			fmt.Println(r.First, r.Events[0])
			if o.Brief {
				if err := s.Close(); err != nil {
					return err
				}
			}
		}
		if o.Brief {
			return nil
		}
		return s.Close()
	case "die", "migrate", "release":
		return die(path, o, task)
	case "spend": // commit from many goroutines until killed; every allow is printed after its commit
		s, err := sqlite.Open(path, o)
		if err != nil {
			return err
		}
		var mu sync.Mutex
		for g := range 8 {
			go func() {
				for i := 0; ; i++ {
					c := storagetest.Decision(fmt.Sprint("run", g))
					id := fmt.Sprintf("r%d", i)
					if g%2 == 0 {
						c.Spends = ledger.One(ledger.Request, id)
					}
					r, err := s.Commit(context.Background(), c)
					var met *ledger.Met
					switch {
					case err == nil:
						mu.Lock()
						fmt.Println(r.First, r.Events[0], spentBy(c))
						mu.Unlock()
					case errors.As(err, &met) && met.Row.Body == nil:
						return // all approvals are spent
					case !errors.Is(err, ledger.ErrConflict):
						fmt.Fprintln(os.Stderr, err)
						os.Exit(1)
					}
				}
			}()
		}
		<-time.After(time.Hour)
	}
	return fmt.Errorf("unknown task %q", task)
}

// spentBy is the request that a change spends.
func spentBy(c ledger.Change) string {
	if len(c.Spends) == 0 {
		return ""
	}
	return c.Spends[0].Key
}

// start starts a process that runs a task on a store.
func start(t *testing.T, path, task string) (*exec.Cmd, *bufio.Scanner, *strings.Builder) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "INTERLOCK_STORE_CHILD="+task, "INTERLOCK_STORE_PATH="+path)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, bufio.NewScanner(out), &stderr
}

// Ten processes on one new store, half of them opening it for every commit as hooks do: nothing is lost, nothing fails.
func TestManyProcesses(t *testing.T) {
	path := newPath(t)
	const processes, each = 10, 20
	var mu sync.Mutex
	receipts := map[string]string{}
	var wg sync.WaitGroup
	for i := range processes {
		task := "commit"
		if i%2 == 1 {
			task = "hook"
		}
		command, lines, stderr := start(t, path, fmt.Sprint(task, " ", each))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for lines.Scan() {
				index, id, _ := strings.Cut(lines.Text(), " ")
				mu.Lock()
				if before, taken := receipts[index]; taken {
					t.Errorf("entry %s was given to %s and %s", index, before, id)
				}
				receipts[index] = id
				mu.Unlock()
			}
			if err := command.Wait(); err != nil {
				t.Errorf("%s: %v: %s", task, err, stderr)
			}
		}()
	}
	wg.Wait()
	report := verify(t, path)
	if report.Problem != nil || report.Entries != processes*each {
		t.Fatalf("the log has %d entries, problem %v; want %d", report.Entries, report.Problem, processes*each)
	}
	s := open(t, path)
	defer s.Close()
	for index, id := range receipts {
		entry, found, err := s.Entry(t.Context(), id)
		if err != nil || !found || strconv.FormatInt(entry.Index, 10) != index {
			t.Fatalf("event %s of entry %s: found %v at %d, %v", id, index, found, entry.Index, err)
		}
	}
}

// A process killed while it commits: what it answered is in the log, the log verifies, nothing was spent twice, and
// nothing is spent without its event.
func TestKilled(t *testing.T) {
	first := newPath(t)
	s := open(t, first)
	const approvals = 400
	for i := range approvals {
		id := fmt.Sprintf("r%d", i)
		c := storagetest.Decision("setup")
		c.Writes = ledger.Rows(*storagetest.Request(id))
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		c = storagetest.Decision("setup")
		c.Writes = ledger.Rows(storagetest.Request(id).Answered(*storagetest.Yes(id)))
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	fresh := copies(t, first)
	for round := range 3 {
		path := fresh()
		command, lines, stderr := start(t, path, "spend")
		allowed, spent := map[string]string{}, map[string]bool{}
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) < 2 {
				continue // the line was cut by the kill
			}
			allowed[fields[1]] = fields[0]
			if len(fields) == 3 {
				if spent[fields[2]] {
					t.Errorf("%s was spent twice", fields[2])
				}
				spent[fields[2]] = true
			}
			if len(allowed) == 200+round*57 {
				if err := command.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := command.Wait(); err == nil || stderr.Len() > 0 {
			t.Fatalf("the process was not killed at work: %v, %s", err, stderr)
		}
		report := verify(t, path)
		if report.Problem != nil {
			t.Fatalf("after the kill: %v", report.Problem)
		}
		s := open(t, path)
		for id, index := range allowed {
			entry, found, err := s.Entry(t.Context(), id)
			if err != nil || !found || strconv.FormatInt(entry.Index, 10) != index {
				t.Fatalf("event %s was answered and is not in the log: found %v at %d, %v", id, found, entry.Index, err)
			}
		}
		for id := range spent {
			c := storagetest.Decision("after")
			c.Spends = ledger.One(ledger.Request, id)
			if _, err := s.Commit(t.Context(), c); !errors.Is(err, ledger.ErrConflict) {
				t.Errorf("%s can be spent again after the kill: %v", id, err)
			}
		}
		spentNow, _, err := s.Scan(t.Context(), ledger.Ref{Kind: ledger.Request, Mark: ledger.Is(interlock.RequestSpent)},
			ledger.Every(1000))
		if err != nil {
			t.Fatal(err)
		}
		if len(spentNow) < len(spent) {
			t.Errorf("%d requests are spent, and %d were answered", len(spentNow), len(spent))
		}
		s.Close()
	}
}

// Somebody who holds the lock for a while delays others; he doesn't make them fail.
func TestWaitsForTheLock(t *testing.T) {
	path := newPath(t)
	tries := make(chan string, 1)
	p := &plan{tell: func(query string) {
		if query == "BEGIN IMMEDIATE" {
			select {
			case tries <- query:
			default:
			}
		}
	}}
	s, err := sqlite.OpenWrapped(path, options(t), func(c driver.Conn) driver.Conn { return &faulty{Conn: c, plan: p} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	must(t, db, "BEGIN IMMEDIATE")
	done := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.Background(), storagetest.Decision("a"))
		done <- err
	}()
	for range 5 { // it tries again and again
		select {
		case <-tries:
		case err := <-done:
			t.Fatalf("the commit did not wait: %v", err)
		}
	}
	must(t, db, "ROLLBACK")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A lock that is never given back ends in a sentence.
func TestPatienceEnds(t *testing.T) {
	path := newPath(t)
	o := options(t)
	o.Patience = 20 * time.Millisecond
	s, err := sqlite.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	must(t, db, "BEGIN IMMEDIATE")
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err == nil || !strings.Contains(err.Error(), "lock") {
		t.Errorf("the error is %v", err)
	}
	must(t, db, "ROLLBACK")
	if _, err := s.Commit(t.Context(), storagetest.Decision("a")); err != nil {
		t.Errorf("after the lock was given back: %v", err)
	}
}
