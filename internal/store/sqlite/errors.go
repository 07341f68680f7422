package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	codes "modernc.org/sqlite/lib"

	"interlock"
	"interlock/internal/ledger"
)

// errFailed marks errors after which the store answers nothing more.
var errFailed = errors.New("the store has stopped")

// errClosed is what a closed store answers.
var errClosed = errors.New("store: closed")

// explain turns a driver's error into a sentence that says what is wrong and how to recover. The driver's error stays
// wrapped for the log of those who run Interlock; it names no data.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var known *interlock.Error
	if errors.As(err, &known) || errors.Is(err, ledger.ErrConflict) {
		return err
	}
	say := func(message string) error {
		return fmt.Errorf("%w (%s: %w)", interlock.Errorf(interlock.CodeUnavailable, "store", "%s", message), doing, err)
	}
	switch code(err) {
	case codes.SQLITE_FULL:
		return say("the disk is full; free some space, nothing was recorded and nothing is lost")
	case codes.SQLITE_READONLY:
		return say("the store can't be written: the disk or the file is read-only; remount it or mend the file's mode")
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		return say("the store's file can't be opened; check that it exists and belongs to this user")
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return say("the store's file is damaged; stop Interlock, keep the file as evidence, run `interlock audit verify` " +
			"on it and restore the latest backup or exported copy")
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return say("another process has held the store's lock for too long; look for a stopped interlock process")
	case codes.SQLITE_IOERR:
		return say("the disk failed or is full, so that it is not known what was written; check the disk and its free space, " +
			"then restart Interlock")
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return say("the disk is full; free some space, nothing was recorded and nothing is lost")
	case errors.Is(err, syscall.EROFS):
		return say("the store can't be written: the disk or the file is read-only; remount it or mend the file's mode")
	case errors.Is(err, fs.ErrPermission):
		return say("this user may not open the store; check who owns its directory and files")
	case errors.Is(err, fs.ErrNotExist):
		return say("the store does not exist; check the home directory, or run any recording command to create it")
	}
	return fmt.Errorf("store: %s: %w", doing, err)
}

// CheckPrivate refuses a file or directory that others than its owner may write. Those who can write the store or its
// key can forge the record.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return explain("look at "+filepath.Base(path), err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		what, want := "file", "600"
		if info.IsDir() {
			what, want = "directory", "700"
		}
		return interlock.Errorf(interlock.CodeUnavailable, "store",
			"the %s %s can be written by others (mode %04o); run: chmod %s on it and check that nobody has changed it",
			what, filepath.Base(path), mode, want)
	}
	return nil
}
