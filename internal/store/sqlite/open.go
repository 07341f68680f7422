package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	codes "modernc.org/sqlite/lib"

	"interlock"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/store/driver"
	"interlock/internal/store/proof"
)

// schema2 makes of the tables of version 1 those of version 2, and so on; tablesNow makes those of an empty database.
var (
	//go:embed schema2.sql
	schema2 string
	//go:embed schema3.sql
	schema3 string
	//go:embed schema4.sql
	schema4 string
	//go:embed schema5.sql
	schema5 string
	//go:embed schema6.sql
	schema6 string
	//go:embed schema7.sql
	schema7 string
	//go:embed schema8.sql
	schema8 string
	//go:embed schema9.sql
	schema9 string
	//go:embed schema10.sql
	schema10 string
)

// File is the name of the store's file in a home, and ReachedName that of the file beside it which says what version it has had: one
// of before is no store to go on from.
const (
	File        = "interlock.db"
	ReachedName = File + ".version"
)

// schemaVersion is the newest version this program knows.
const schemaVersion = 10

// A Store is the durable truth in one SQLite file. It is safe for concurrent use, and several processes may have one on
// the same file. After an error of unknown effect every later call fails: close it and open it again.
type Store struct {
	path    string
	options driver.Options
	wrap    func(sqldriver.Conn) sqldriver.Conn // tests put faults between store and driver
	brought bool                                // to the newest version, by this process
	db      *sql.DB                             // readers
	queue   chan *commit
	done    chan struct{} // closed when the writer has ended

	closing sync.RWMutex // held for reading while a commit is put into the queue
	closed  bool

	inUse    sync.Mutex    // guards the fields below
	readings int           // reading steps under way
	leaving  bool          // no further ones are begun
	quiet    chan struct{} // closed when the last one has ended, if anybody waits for that

	writing sync.Mutex // held by the user of writer, guards the fields below
	writer  *conn
	jobs    map[string]job // runs this process wrote last, valid while newest is the head
	newest  ledger.Head    // this process wrote or verified
	sealed  ledger.Head    // the head of the transaction under way
	filled  *batch         // what that transaction wrote
	written int64          // bytes appended since the last checkpoint, estimated
	room    []byte         // where a transaction's entries are sealed; nothing of it is kept once they are in the file
	packed  []byte         // likewise, where they are packed
	args    []any          // of the statement under way
	// of the transaction under way; their memory is used again
	drafts    []ledger.Draft
	prepared  []*draft
	sequences []int64
	notes     []byte       // of the ids in the block that is being filled, up to entry noted, exclusively
	noted     int64        // -1 is unknown
	proofs    *proof.State // as they are with newest; nil: unknown
	swept     time.Time    // when passing rows that are over were last forgotten

	blobs map[interlock.Digest]int64 // those this process knows to be stored, and when it last saw to that, in unix nanoseconds

	failing sync.Mutex
	failure error // sticky

	readers chan *conn    // idle reading connections
	slots   chan struct{} // held by the user of one

	passing memory  // rows that stand for a while only
	unheard silence // which noted rows were not there a moment ago

	book ledger.Book // what the kinds of rows are

	cache   sync.Mutex // guards the fields below
	mind    known
	vouched *proof.State // the newest that this process has found sound, or made
	current int64        // newest revision this process has seen in the file
	seen    time.Time    // when that was in force

	prover   *proof.Prover
	watching watching // who waits for others to write

	checkpoints chan struct{}
	background  sync.WaitGroup
}

// Open opens the store in the file at path, creating it if it doesn't exist. The directory must exist. Open refuses a
// file or directory that others may write, a log that the sealer's key has not signed, a newer schema and a damaged file,
// each with a sentence that says how to recover.
func Open(path string, options driver.Options) (*Store, error) {
	return openWrapped(path, options, nil)
}

func openWrapped(path string, options driver.Options, wrap func(sqldriver.Conn) sqldriver.Conn) (*Store, error) {
	if options.Sealer == nil && !options.ReadOnly {
		return nil, errors.New("sqlite: Options.Sealer is missing")
	}
	if options.Patience == 0 {
		options.Patience = 10 * time.Second
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	s := &Store{
		path: absolute, options: options, wrap: wrap, queue: make(chan *commit, maxBatch), done: make(chan struct{}),
		jobs: map[string]job{}, readers: make(chan *conn, maxReaders), slots: make(chan struct{}, maxReaders),
		checkpoints: make(chan struct{}, 1), noted: -1, blobs: map[interlock.Digest]int64{}, book: ledger.NewBook(),
	}
	s.prover = proof.New(options.Sealer, s.book, options.Brief, options.Noticed)
	if err := s.open(); err != nil {
		s.release()
		return nil, err
	}
	if options.ReadOnly {
		close(s.done)
		return s, nil
	}
	go s.write()
	if !options.Brief {
		s.background.Add(1)
		go s.checkpointer()
	}
	return s, nil
}

func (s *Store) open() error {
	if err := s.file(); err != nil {
		return err
	}
	ctx := context.Background()
	reading := source{path: s.path, readOnly: s.options.ReadOnly}
	s.db = sql.OpenDB(connector{name: reading.name(), wrap: s.wrap})
	s.db.SetMaxIdleConns(maxReaders)
	if s.options.ReadOnly {
		return s.inspect(ctx)
	}
	writing := source{path: s.path, writer: true, keepWAL: checkpointAfter * 4}
	if s.options.Brief {
		writing.keepWAL = leaveWAL / 2
	}
	writers := sql.OpenDB(connector{name: writing.name(), wrap: s.wrap})
	writers.SetMaxOpenConns(1)
	writer, err := s.take(ctx, writers)
	if err != nil {
		return explain("open the store", err)
	}
	s.writer = writer
	if err := s.migrate(ctx); err != nil {
		return err
	}
	head, p, err := writer.Head(ctx)
	if err != nil {
		return explain("read the head", err)
	}
	if err := s.options.Sealer.CheckHead(head); err != nil {
		return foreignKey(err)
	}
	s.newest = head
	s.vouchedFor(p)
	s.passing.forget(head.Size)
	return s.noteReached()
}

// file checks the store's place and creates the file with the right mode, which SQLite would not.
func (s *Store) file() error {
	if err := CheckPrivate(filepath.Dir(s.path)); err != nil && !s.options.ReadOnly {
		return err
	}
	err := CheckPrivate(s.path)
	if err == nil || s.options.ReadOnly {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.options.Begun {
		return lost()
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return CheckPrivate(s.path) // another process was first
	}
	if err != nil {
		return explain("create the store", err)
	}
	return f.Close()
}

// migrate brings an older or empty database to the newest schema and refuses a newer one.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx, s.writer)
	if err != nil || version == schemaVersion {
		return err
	}
	if version == 0 && s.options.Begun {
		return lost()
	}
	if version > 0 && s.reached() > version {
		return interlock.Errorf(interlock.CodeUnavailable, "store", "%s; if you have put back a backup, remove %s beside it, otherwise "+
			"keep the file as evidence and restore one", older(version, s.reached()).What, ReachedName)
	}
	// Another process may do the same at this moment; the second to come finds the work done.
	err = s.writer.wait(ctx, func() error {
		// Pages stay at 4 KB: larger ones pack entries better and gain a little with many callers, but a lone commit, which
		// is what a hook makes, writes every page it touches whole.
		_, err := s.writer.sql.ExecContext(ctx, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL")
		return err
	})
	if err != nil {
		return explain("turn on the write-ahead log", err)
	}
	if _, err := s.writer.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain("create the tables", err)
	}
	version, err = s.version(ctx, s.writer)
	from := version
	if err == nil && version == 0 {
		version, err = schemaVersion, s.create(ctx)
	}
	for err == nil && version < schemaVersion {
		step := [...]string{schema2, schema3, schema4, schema5, schema6, schema7, schema8, schema9, schema10}[version-1]
		version++
		_, err = s.writer.sql.ExecContext(ctx, fmt.Sprintf("%s;\nPRAGMA user_version = %d", step, version))
		if err == nil && version == rowsSince {
			err = s.moveRows(ctx)
		}
		if err == nil && version == passingSince {
			err = s.moveToPassing(ctx)
		}
		if err == nil && version == provedSince {
			err = s.moveCarried(ctx)
		}
		if err == nil && version == besideSince {
			err = s.proveAll(ctx, from)
		}
	}
	if err == nil {
		_, err = s.writer.exec(ctx, "COMMIT")
		s.brought = err == nil
	}
	if err != nil {
		_, _ = s.writer.exec(ctx, "ROLLBACK") // the first error is the one to report
		return explain("create the tables", err)
	}
	return nil
}

// create makes the tables of an empty database, in the transaction of migrate.
func (s *Store) create(ctx context.Context) error {
	statements := strings.Split(tablesNow, tableSeparator)
	last := func(statement string) int { // what belongs to a table is made after it
		if strings.HasPrefix(statement, "CREATE TABLE") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(statements, func(a, b string) int { return last(a) - last(b) })
	_, err := s.writer.sql.ExecContext(ctx, fmt.Sprintf("%s;\nINSERT INTO head (one, size, last, edge, checkpoint, version, revision) "+
		"VALUES (1, 0, '', x'', x'', 1, 1);\nPRAGMA user_version = %d", strings.Join(statements, tableSeparator), schemaVersion))
	if err == nil {
		_, err = s.writer.exec(ctx, "INSERT INTO proofs (one, tags) VALUES (1, ?)", proof.NewState().Tags)
	}
	if err != nil {
		return err
	}
	return s.proveAll(ctx, 0)
}

// reached is the newest version that this store has had, as noted beside it. What can't be read says nothing: those who can take
// it away can read the key that proves everything.
func (s *Store) reached() int64 {
	text, err := fileio.Plain(filepath.Join(filepath.Dir(s.path), ReachedName), 64)
	if err != nil {
		return 0
	}
	version, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // 0 where it is no number
	return version
}

// noteReached notes beside the store which version it has now, if this process has brought it there or finds that nobody has said so.
func (s *Store) noteReached() error {
	if !s.brought && (s.options.Brief || s.reached() >= schemaVersion) {
		return nil
	}
	err := os.WriteFile(filepath.Join(filepath.Dir(s.path), ReachedName), fmt.Appendf(nil, "%d\n", schemaVersion), 0o600)
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "store", "it can't be noted beside the store which version it has now: %s",
			fileio.Reason(err))
	}
	return nil
}

// foreignKey refuses a log that another key has signed.
func foreignKey(err error) error {
	return interlock.Errorf(interlock.CodeUnavailable, "store",
		"the log and the signing key beside it do not belong together (%s); put the key back that signed this log, "+
			"or move the log away to begin a new one", err)
}

// lost refuses to begin a second log under a key that has signed one: two histories under one name would pass for each other
// wherever no checkpoint is at hand.
func lost() error {
	return interlock.Errorf(interlock.CodeUnavailable, "store", "the store is missing or empty although a log was begun here; "+
		"restore "+File+" from a backup, or move log.key and log.pub away to start a new log")
}

// version reads and judges user_version.
func (s *Store) version(ctx context.Context, c *conn) (int64, error) {
	var version int64
	err := c.wait(ctx, func() error {
		return c.sql.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	})
	if err != nil {
		return 0, explain("read the schema version", err)
	}
	if version > schemaVersion {
		return 0, interlock.Errorf(interlock.CodeUnavailable, "store",
			"the store was written by a newer Interlock (schema %d, this one knows %d); use that version", version, schemaVersion)
	}
	return version, nil
}

// inspect checks a store opened for reading. SQLite needs a place for shared memory even to read; a copy on a read-only
// disk has none, and if no write-ahead log lies beside it, it can be read as the unchanging file it is.
func (s *Store) inspect(ctx context.Context) error {
	err := s.examine(ctx)
	if c := code(err); c != codes.SQLITE_CANTOPEN && c != codes.SQLITE_READONLY {
		return err
	}
	if info, statErr := os.Stat(s.path + "-wal"); statErr == nil && info.Size() > 0 {
		return err
	}
	if closeErr := s.release(); closeErr != nil {
		return err
	}
	fixed := source{path: s.path, readOnly: true, immutable: true}
	s.db = sql.OpenDB(connector{name: fixed.name(), wrap: s.wrap})
	return s.examine(ctx)
}

func (s *Store) examine(ctx context.Context) error {
	return s.read(ctx, "open the store", func(c *conn) error {
		version, err := s.version(ctx, c)
		if err == nil && version == 0 {
			return interlock.Errorf(interlock.CodeUnavailable, "store", "the file is not an Interlock store")
		}
		return err
	})
}

// Path returns the store's file.
func (s *Store) Path() string { return s.path }

// Close ends the store after everything queued has been answered and everything being read has been read. Commits and reads
// that come later fail.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.closing.Unlock()
	s.watching.end()
	<-s.done
	close(s.checkpoints)
	s.background.Wait()
	s.settle()
	if s.options.Brief && !s.options.ReadOnly && s.leave() {
		return nil
	}
	return s.release()
}

// release closes the connections.
func (s *Store) release() error {
	var first error
	keep := func(err error) {
		if first == nil && err != nil {
			first = err
		}
	}
	for len(s.readers) > 0 {
		keep((<-s.readers).close())
	}
	if s.db != nil {
		keep(s.db.Close())
	}
	if s.writer != nil {
		keep(s.writer.close())
		keep(s.writer.pool.Close())
	}
	return explain("close the store", first)
}

// fail makes the store refuse from now on.
func (s *Store) fail(err error) error {
	s.failing.Lock()
	defer s.failing.Unlock()
	if s.failure == nil {
		s.failure = fmt.Errorf("%w: %w", errFailed, err)
		defer s.watching.everybody() // who waits for what will never come finds out
	}
	return s.failure
}

// failed returns the error after which the store refuses, or nil.
func (s *Store) failed() error {
	s.failing.Lock()
	defer s.failing.Unlock()
	return s.failure
}
