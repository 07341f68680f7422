package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"strconv"
	"time"

	driversqlite "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// A conn is one SQLite connection and its prepared statements. It is used by one goroutine at a time.
type conn struct {
	pool       *sql.DB
	sql        *sql.Conn
	statements map[string]*sql.Stmt
	store      *Store
}

// A connector opens connections to one file. Its wrap, where a test sets it, is between the store and the driver.
type connector struct {
	name string
	wrap func(driver.Conn) driver.Conn
}

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := (&driversqlite.Driver{}).Open(c.name)
	if err != nil || c.wrap == nil {
		return opened, err
	}
	return c.wrap(opened), nil
}

func (c connector) Driver() driver.Driver { return &driversqlite.Driver{} }

// A source says how to open a file.
type source struct {
	path      string
	readOnly  bool
	immutable bool // nobody writes it, not even a lock is taken
	writer    bool
	keepWAL   int64 // bytes of write-ahead log that stay allocated after a checkpoint
}

// name renders the connection string. The writer's busy timeout is zero because conn waits itself: SQLite's own waiting
// sleeps up to 100 ms between tries and would let a busy server starve a hook.
func (s source) name() string {
	query := url.Values{}
	query.Set("mode", "rw")
	query.Set("_busy_timeout", "10000")
	query.Set("_defensive", "1")
	if s.readOnly {
		query.Set("mode", "ro")
	}
	if s.immutable {
		query.Set("immutable", "1")
	}
	if s.writer {
		query.Set("_busy_timeout", "0")
		query.Add("_pragma", "synchronous(FULL)")
		query.Add("_pragma", "wal_autocheckpoint(0)") // checkpoints run beside the writer, not in it
		query.Add("_pragma", "journal_size_limit("+strconv.FormatInt(s.keepWAL, 10)+")")
	}
	return (&url.URL{Scheme: "file", Path: s.path, RawQuery: query.Encode()}).String()
}

// take reserves a connection of the pool.
func (s *Store) take(ctx context.Context, db *sql.DB) (*conn, error) {
	c := &conn{pool: db, statements: map[string]*sql.Stmt{}, store: s}
	err := c.wait(ctx, func() (err error) {
		c.sql, err = db.Conn(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// wait runs step again while another process holds a lock, up to the store's patience. Tries come often and short,
// so that somebody who commits all the time can't keep others out.
func (c *conn) wait(ctx context.Context, step func() error) error {
	err := step()
	if err == nil || !isBusy(err) {
		return err
	}
	deadline := time.Now().Add(c.store.options.Patience)
	pause := 50 * time.Microsecond
	for isBusy(err) && time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(pause)
		if pause < time.Millisecond {
			pause += pause / 2
		}
		err = step()
	}
	return err
}

// prepared returns the statement for a query, preparing it the first time.
func (c *conn) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := c.statements[query]; s != nil {
		return s, nil
	}
	s, err := c.sql.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.statements[query] = s
	return s, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := c.wait(ctx, func() error {
		s, err := c.prepared(ctx, query)
		if err != nil {
			return err
		}
		result, err := s.ExecContext(ctx, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// row reads one row into the targets. found is false if there is none.
func (c *conn) row(ctx context.Context, query string, args []any, into ...any) (found bool, err error) {
	err = c.wait(ctx, func() error {
		s, err := c.prepared(ctx, query)
		if err != nil {
			return err
		}
		return s.QueryRowContext(ctx, args...).Scan(into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls take for every row of a query.
func (c *conn) each(ctx context.Context, query string, args []any, take func(scan func(into ...any) error) error) error {
	var rows *sql.Rows
	err := c.wait(ctx, func() error {
		s, err := c.prepared(ctx, query)
		if err != nil {
			return err
		}
		rows, err = s.QueryContext(ctx, args...)
		return err
	})
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// close gives the connection back.
func (c *conn) close() error {
	if c == nil || c.sql == nil {
		return nil
	}
	for _, s := range c.statements { // any order: closing a statement doesn't depend on the others
		_ = s.Close() // the connection goes anyway
	}
	c.statements = map[string]*sql.Stmt{}
	return c.sql.Close()
}

// code returns SQLite's primary result code of an error, or 0.
func code(err error) int {
	var failure *driversqlite.Error
	if errors.As(err, &failure) {
		return failure.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	c := code(err)
	return c == codes.SQLITE_BUSY || c == codes.SQLITE_LOCKED
}
