package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/quorum"
)

// RulesDirectory is where a home's rules are, or would be.
func RulesDirectory(c config.Config) string {
	if c.Rules != "" {
		return c.Rules
	}
	return filepath.Join(c.Home, "rules")
}

// A Promotion is what became of an order to put the candidate into force.
type Promotion struct {
	Event   string           // that records the order
	Ruleset interlock.Digest // in force for every decision from now on
	Former  string           // where the rules are now that were in force; empty where there were none
}

// What follows a rules directory's name in that of the one that takes its place. Under staged it lies until the order is recorded;
// under promoted it is in force wherever the directory itself is missing, so that between the two renames, and after a crash there,
// nobody decides without the operator's rules.
const (
	staged   = ".staged"
	promoted = ".promoted"
)

// PromoteRules carries out an operator's signed order that the candidate be the ruleset in force. Its documents lie on the disk
// before the order is recorded, read back and held against it, and take the place of the rules after that: what is in force has an
// order in the log.
func (b *Backend) PromoteRules(ctx context.Context, order interlock.Order) (p Promotion, err error) {
	dir := RulesDirectory(b.Settings)
	if err := settle(dir); err != nil {
		return p, err
	}
	if err := onlyRules(dir); err != nil {
		return p, err
	}
	candidate, _, err := b.Candidate(ctx)
	if err != nil {
		return p, err
	}
	if len(order.Subject) < 12 {
		return p, interlock.Errorf(interlock.CodeInvalid, "subject", "is not the digest of a ruleset")
	}
	defer os.RemoveAll(dir + staged) // of what was refused; what took its place is gone from there
	prepared := prepare(dir, candidate.Documents, order.Subject)
	if prepared != nil && string(candidate.Ruleset) == order.Subject {
		if _, err := b.CandidateRules(ctx); err == nil { // else the order is refused for what the candidate is, and that is recorded
			return p, prepared
		}
	}
	done, err := b.CarryOut(ctx, quorum.OfOrder(order, interlock.Requester{}), interlock.VerbPromoteRules)
	if err != nil {
		return p, err
	}
	p = Promotion{Event: done.Events[0], Ruleset: done.Candidate.Ruleset}
	if prepared != nil { // another candidate took its place between the two looks, and the order was for that one
		if err := prepare(dir, done.Candidate.Documents, order.Subject); err != nil {
			return p, unplaced(err)
		}
	}
	p.Former, err = replace(dir, dir+".before-"+done.Events[0][:12])
	if err != nil {
		return p, unplaced(err)
	}
	return p, nil
}

// settle finishes a promotion that a crash has broken off between its two renames.
func settle(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Rename(dir+promoted, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return interlock.Errorf(interlock.CodeUnavailable, "--rules", "the rules directory can't be written: %s", fileio.Reason(err))
	}
	return nil
}

// prepare writes documents beside the rules directory, reads them back as every process does, and holds what they make against the
// digest of the ruleset that is meant: a digest says nothing of names, and names say what is read.
func prepare(dir string, documents map[string]string, want string) error {
	if err := stage(dir+staged, documents); err != nil {
		return err
	}
	read, err := UserRules(dir + staged)
	if err != nil {
		return err
	}
	rules, err := candidate(read)
	if err != nil {
		return err
	}
	if string(rules.Digest()) != want {
		return interlock.Errorf(interlock.CodeConflict, "--rules", "what was written of the candidate is another ruleset; nothing was changed")
	}
	return nil
}

// replace has what is staged take the place of the rules, which it keeps under another name; empty where there were none.
func replace(dir, former string) (string, error) {
	next := dir + promoted
	err := os.RemoveAll(next)
	if err == nil {
		err = os.Rename(dir+staged, next)
	}
	if err != nil {
		return "", err
	}
	err = os.Rename(dir, former)
	if errors.Is(err, fs.ErrNotExist) {
		former, err = "", nil
	}
	if err == nil {
		if err = os.Rename(next, dir); err != nil && former != "" {
			_ = os.Rename(former, dir) // the rules of before go on
		}
	}
	if err != nil {
		_ = os.RemoveAll(next)
		return "", err
	}
	return former, syncNames(filepath.Dir(dir))
}

// syncNames makes the names in a directory durable, where that can be had.
func syncNames(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func unplaced(err error) error {
	return interlock.Errorf(interlock.CodeUnavailable, "rules",
		"the order is recorded, and its rules could not be put in place: %s; put them into the rules directory by hand", fileio.Reason(err))
}

// onlyRules refuses a directory with anything but rules in it: it is kept in some other way, such as with git, and what is put
// into its place would be gone with the next update.
func onlyRules(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if path == dir && errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		if err != nil {
			return interlock.Errorf(interlock.CodeUnavailable, "--rules", "the rules directory can't be read: %s", fileio.Reason(err))
		}
		if name := entry.Name(); path != dir && (strings.HasPrefix(name, ".") ||
			!entry.IsDir() && filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml") {
			return interlock.Errorf(interlock.CodeInvalid, "--rules",
				"the rules directory holds %.60q besides rules, so it is kept in some other way; "+
					"put the candidate's rules there in that way", name)
		}
		return nil
	})
	return err
}

// stage writes documents into a directory of their own.
func stage(dir string, documents map[string]string) error {
	if err := os.RemoveAll(dir); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--rules", "the candidate can't be written: %s", fileio.Reason(err))
	}
	err := os.MkdirAll(dir, 0o700)
	for name, text := range documents { // any order: each is a file of its own
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return interlock.Errorf(interlock.CodeInvalid, "--rules", "%.60q is no name of a file of rules", name)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = writeSynced(path, text)
		}
	}
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--rules", "the candidate can't be written: %s", fileio.Reason(err))
	}
	return nil
}

func writeSynced(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write a file of rules: %w", err)
	}
	return nil
}
