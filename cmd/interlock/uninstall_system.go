package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"interlock"
	"interlock/internal/startup"
)

// system takes back what installing for the whole system did, and nothing else: what somebody changed since stays, and so does what
// the server wrote, which is its log.
func (c *uninstallCommand) system(p *program) error {
	s, err := newSystemInstall(p, &c.systemFlags, c.DryRun)
	if err != nil {
		return err
	}
	if len(s.record.Files) == 0 {
		fmt.Fprintln(p.stdout, "Interlock is not installed for the whole system here")
		return nil
	}
	var ours []string
	for path := range s.record.Files {
		ours = append(ours, path)
	}
	slices.Sort(ours)
	var left []string
	for _, path := range ours {
		digest, err := fileDigest(s.at(path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil || string(digest) != s.record.Files[path]:
			left = append(left, path)
			fmt.Fprintf(p.stdout, "keep   %s, which was changed since\n", s.at(path))
			continue
		}
		fmt.Fprintf(p.stdout, "remove %s\n", s.at(path))
	}
	if c.DryRun {
		fmt.Fprintln(p.stdout, "Nothing was changed.")
		return nil
	}
	s.stop()
	if err := s.remove(ours, left); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "The system's Interlock is no longer installed. Its log and keys stay in %s, which is yours to keep or to remove.\n",
		s.at(startup.SystemHome))
	return nil
}

// stop ends the units and has systemd forget them. What fails was not there.
func (s *systemInstall) stop() {
	for _, unit := range s.record.Units {
		works(s.unhurried(), []string{"systemctl", "disable", "--now", unit})
	}
}

// remove takes away the files, then the directories that were made for them, then the user and the group.
func (s *systemInstall) remove(ours, left []string) error {
	var failed error
	for _, path := range ours {
		if !slices.Contains(left, path) {
			failed = errors.Join(failed, unlessMissing(os.Remove(s.at(path))))
		}
	}
	failed = errors.Join(failed, unlessMissing(os.Remove(s.at(systemRecordFile))))
	dirs := slices.Clone(s.record.Dirs)
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) }) // the deepest first
	for i, dir := range dirs {
		dirs[i] = filepath.Join(s.flags.Root, dir)
	}
	failed = errors.Join(failed, removeEmpty(dirs))
	if failed != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--system", "not everything could be removed: %s", failed)
	}
	if len(s.record.Units) > 0 {
		works(s.unhurried(), []string{"systemctl", "daemon-reload"})
	}
	// A user whose files stay is kept: another could be given its number, and with it the log.
	if s.record.User && !exists(startup.SystemHome) {
		works(s.unhurried(), []string{"userdel", startup.SystemUser})
	}
	if s.record.Group {
		works(s.unhurried(), []string{"groupdel", startup.SystemGroup})
	}
	return nil
}
