package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/harness"
	"interlock/internal/ledger"
)

// alertInstalled is the kind of alert about a hook that is not registered any more as it was installed.
const alertInstalled = "hook-registration"

// MaxInstalled is how many entries about installations are read, newest first: one for each settings file counts.
const MaxInstalled = 64

// recordInstalled records what is registered with a harness now, and under which key its hook may believe a server.
func recordInstalled(p *cli.Program, backend *embedded.Backend, h harness.Harness, project string, removed bool) error {
	settings := backend.Settings
	if !removed {
		if err := harness.Pin(cli.UserHome(p.Getenv), h.Name, settings.Home, backend.Answers.Pin()); err != nil {
			return err
		}
	}
	if project != "" {
		if whole, err := filepath.Abs(project); err == nil {
			project = whole
		}
	}
	now, err := describeInstalled(h, p.Place(project))
	if err != nil {
		return err
	}
	now.Removed = removed
	return backend.Installed(p.Ctx, now)
}

// describeInstalled reads what is registered with a harness.
func describeInstalled(h harness.Harness, place harness.Place) (auditlog.InstalledRecord, error) {
	own, err := cli.OwnPath()
	if err != nil {
		return auditlog.InstalledRecord{}, err
	}
	r := auditlog.InstalledRecord{Harness: h.Name, Settings: h.Settings(place), Project: place.Project, User: account.Name()}
	r.Mark = settingsMark(h, place)
	status, err := h.Status(place, own)
	if err != nil {
		return r, err
	}
	r.Lines, r.Problems = installedLines(status), status.Problems
	for _, path := range slices.Compact([]string{own, Quickest(own)}) {
		mark := FileMark(path)
		digest, err := fileDigest(path)
		if err != nil {
			return r, err
		}
		r.Programs = append(r.Programs, auditlog.InstalledProgram{Path: path, Digest: digest, Mark: mark})
	}
	return r, nil
}

func installedLines(status harness.Status) []string {
	var lines []string
	for _, r := range status.Registrations {
		line := r.Shell
		if len(r.Argv) > 0 {
			line = strings.Join(r.Argv, " ")
		}
		lines = append(lines, r.Event+" "+line)
	}
	sort.Strings(lines)
	return lines
}

// installed reads from the log what is installed: the newest entry of each settings file. The index is that of the newest.
func installed(ctx context.Context, log interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}) (standing []auditlog.InstalledRecord, newest int64, err error) {
	entries, err := log.Entries(ctx, interlock.EventInstalled, ledger.Before(-1, MaxInstalled))
	if err != nil {
		return nil, -1, err
	}
	newest = -1
	seen := map[string]bool{}
	for _, e := range entries {
		newest = max(newest, e.Index)
		r, err := auditlog.InstalledOf(e)
		if err != nil {
			return nil, newest, err
		}
		if of := r.Harness + "\x00" + r.Settings; !seen[of] {
			seen[of] = true
			if !r.Removed {
				standing = append(standing, r)
			}
		}
	}
	return standing, newest, nil
}

// compareInstalled holds an installation against what is there, in sessions that begin in some directories too. The files are read
// only if something tells that they may have changed; moved says that they were, and that it is in place all the same.
func compareInstalled(p *cli.Program, r auditlog.InstalledRecord, dirs []string) (wrong []string, moved bool) {
	h, known := harness.ByName(r.Harness)
	if !known {
		return nil, false
	}
	place := placeOf(p, h, r)
	if mark := settingsMark(h, place); mark != r.Mark {
		moved = true
		wrong = compareSettings(h, place, r)
	}
	for _, dir := range dirs {
		wrong = append(wrong, h.SwitchedOff(place, dir)...)
	}
	for _, program := range r.Programs {
		if FileMark(program.Path) == program.Mark {
			continue
		}
		moved = true
		switch digest, err := fileDigest(program.Path); {
		case errors.Is(err, os.ErrNotExist):
			wrong = append(wrong, "the program "+program.Path+" is gone")
		case err != nil:
			wrong = append(wrong, "the program "+program.Path+" can't be read")
		case digest != program.Digest:
			wrong = append(wrong, "the program "+program.Path+" was replaced")
		}
	}
	sort.Strings(wrong)
	return slices.Compact(wrong), moved
}

// placeOf is the place where an installation was made, whatever the environment says where harnesses keep their settings: it may be
// another here than it was there.
func placeOf(p *cli.Program, h harness.Harness, r auditlog.InstalledRecord) harness.Place {
	place := p.Place(r.Project)
	for dir, n := filepath.Dir(r.Settings), 0; h.Settings(place) != r.Settings && n < 4; dir, n = filepath.Dir(dir), n+1 {
		moved := dir
		place.Getenv = func(string) string { return moved }
		if h.Settings(place) == r.Settings {
			break
		}
		place.Getenv, place.Home = func(string) string { return "" }, moved
	}
	return place
}

// compareSettings reads the settings of an installation again.
func compareSettings(h harness.Harness, place harness.Place, r auditlog.InstalledRecord) (wrong []string) {
	own, err := cli.OwnPath()
	if err != nil {
		return []string{"it can't be told what is registered"}
	}
	if h.Settings(place) != r.Settings {
		return []string{r.Settings + " is not where its harness looks any more"}
	}
	status, err := h.Status(place, own)
	if err != nil {
		return []string{err.Error()}
	}
	lines := installedLines(status)
	for _, line := range r.Lines {
		if slices.Contains(lines, line) {
			continue
		}
		event, _, _ := strings.Cut(line, " ")
		has := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, event+" ") })
		if has {
			wrong = append(wrong, fmt.Sprintf("%s registers another command for %s", r.Settings, event))
		} else {
			wrong = append(wrong, fmt.Sprintf("%s registers nothing for %s any more", r.Settings, event))
		}
	}
	for _, problem := range status.Problems {
		if !slices.Contains(r.Problems, problem) {
			wrong = append(wrong, r.Settings+": "+problem)
		}
	}
	return wrong
}

// LookAtInstalled compares everything that is installed, records what is found once, and returns it. What is as before in files
// that were written again is recorded too, so that the next look is a cheap one.
func LookAtInstalled(ctx context.Context, p *cli.Program, backend *embedded.Backend, dirs []string, again bool) ([]string, error) {
	standing, newest, err := installed(ctx, backend.Store)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, r := range standing {
		wrong, moved := compareInstalled(p, r, dirs)
		for _, one := range wrong {
			all = append(all, r.Harness+": "+one)
		}
		if len(wrong) == 0 && moved {
			h, _ := harness.ByName(r.Harness)
			if fresh, err := describeInstalled(h, placeOf(p, h, r)); err == nil {
				fresh.Again, fresh.Lines = true, r.Lines
				fresh.Programs = remarked(r.Programs)
				if err := backend.Installed(ctx, fresh); err != nil {
					return all, err
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	message := strings.Join(all, "; ") + ". Nothing judges such calls; `interlock install` registers it again"
	if said, err := alerted(ctx, backend, alertInstalled, message, newest); err != nil || said && !again {
		return all, err
	}
	return all, backend.Alarm(ctx, alertInstalled, message)
}

// remarked are programs that are as they were, with what tells so now.
func remarked(programs []auditlog.InstalledProgram) []auditlog.InstalledProgram {
	out := slices.Clone(programs)
	for i := range out {
		out[i].Mark = FileMark(out[i].Path)
	}
	return out
}

// alerted reports whether the same was said since an entry.
func alerted(ctx context.Context, backend *embedded.Backend, kind, message string, since int64) (bool, error) {
	entries, err := backend.Store.Entries(ctx, interlock.EventAlert, ledger.Before(-1, MaxInstalled))
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Index < since {
			return false, nil
		}
		if code, said := auditlog.AlertOf(e); code == kind {
			return said == cli.Redacted(message), nil
		}
	}
	return false, nil
}

// settingsMark tells whether any file is another that says whether a harness runs the hook.
func settingsMark(h harness.Harness, place harness.Place) string {
	mark := FileMark(h.Settings(place))
	for _, file := range h.Beside(place) {
		mark += "; " + FileMark(file)
	}
	return mark
}

// fileDigest is the SHA-256 of a file.
func fileDigest(path string) (interlock.Digest, error) {
	file, err := fileio.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return interlock.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil))), nil
}

// FileMark tells, without reading a file, whether it is the one it was: its size and time, and where the system says them its number
// and when it was changed in any way, which nobody can set. Links are followed.
func FileMark(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), systemMark(info))
}
