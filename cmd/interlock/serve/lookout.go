package serve

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/setup"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

// lookEvery is how often a process that lasts looks whether hooks are still called.
const lookEvery = 2 * time.Second

// historiesEvery is of how many looks one holds the log against what hooks have seen of it, which takes some proofs.
const historiesEvery = 5

// The bounds of what a lookout keeps.
const (
	maxDirs   = 32        // where agents worked lately
	bannerFor = time.Hour // an alert of another process
)

// A lookout looks, for as long as a server runs, whether everything that should call Interlock still does: registrations, programs,
// the socket, and whether the log goes on from what hooks have seen of it. What is wrong is shown in the console.
type lookout struct {
	program *cli.Program
	backend *embedded.Backend
	logger  *slog.Logger
	socket  string // empty: this process has none
	listens string // the mark of the socket as it was opened

	mutex  sync.Mutex
	dirs   []string
	wrong  []string
	heard  map[int64]time.Time // alerts of other processes, by index
	texts  map[int64]string
	last   int64 // the newest alert that was looked at; -1: none yet
	was    bool  // the look before found hooks unregistered
	said   string
	weaker string // the settings that this process has told of last
	looks  int
	apart  []string // where histories part, as it was found last
}

func NewLookout(p *cli.Program, backend *embedded.Backend, socket string, logger *slog.Logger) *lookout {
	l := &lookout{program: p, backend: backend, logger: logger, socket: socket, heard: map[int64]time.Time{},
		texts: map[int64]string{}, last: -1}
	if socket != "" {
		l.listens = setup.FileMark(socket)
	}
	return l
}

// saw remembers where an agent works, whose project may switch hooks off.
func (l *lookout) saw(dir string) {
	if dir == "" {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if i := slices.Index(l.dirs, dir); i >= 0 {
		return
	}
	if l.dirs = append(l.dirs, dir); len(l.dirs) > maxDirs {
		l.dirs = l.dirs[1:]
	}
}

// Warnings are what is wrong now, for the console.
func (l *lookout) Warnings() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.wrong)
}

// keep looks until ctx ends.
func (l *lookout) keep(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		l.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Look looks once. What can't be looked at is wrong, too.
func (l *lookout) Look(ctx context.Context) {
	l.mutex.Lock()
	dirs := slices.Clone(l.dirs)
	l.mutex.Unlock()
	if home := cli.UserHome(l.program.Getenv); home != "" {
		dirs = append(dirs, home)
	}
	found, err := setup.LookAtInstalled(ctx, l.program, l.backend, dirs, !l.was && l.last >= 0)
	l.was = len(found) > 0
	if err != nil {
		found = append(found, "it can't be told whether hooks are registered still: "+cli.Shown(err))
	}
	if mark := setup.FileMark(l.socket); l.socket != "" && mark != l.listens {
		one := "the socket of this server was replaced or removed: hooks can't reach it and decide by themselves; start `interlock up` again"
		found = append(found, one)
		l.tell(ctx, one)
	}
	if l.looks%historiesEvery == 0 {
		l.apart = l.parted(ctx)
	}
	l.looks++
	found = append(append(append(found, l.apart...), l.settings(ctx)...), l.others(ctx)...)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.wrong = found
}

// settings says which settings have no effect, and whether this process runs under others than would be in force if it were started
// now. A file that was made weaker is recorded and told, as it is where a process starts under it.
func (l *lookout) settings(ctx context.Context) (found []string) {
	written, err := l.program.Settings()
	if err != nil {
		return []string{"the settings can't be read, so nothing that starts now starts: " + cli.Shown(err)}
	}
	now, err := l.backend.Settle(ctx, written)
	if err != nil {
		return []string{"it can't be told which settings are in force: " + cli.Shown(err)}
	}
	if said := now.Says(); said != "" {
		found = append(found, said)
		told, err := l.backend.RefuseSettings(ctx, said)
		if told {
			l.weaker = cli.Redacted(said)
		}
		if err != nil && ctx.Err() == nil {
			l.logger.Warn("an alert could not be recorded", "error", err.Error())
		}
	}
	if weaker := now.Weaker(l.backend.Settings); len(weaker) > 0 {
		found = append(found, "this process runs under weaker settings than are in force now ("+strings.Join(weaker, ", ")+
			"); start it again")
	}
	return found
}

// parted says where the log parts from what hooks have seen of it.
func (l *lookout) parted(ctx context.Context) (found []string) {
	apart, err := audit.Histories(ctx, l.program, l.backend.Store, l.backend.Key)
	for _, one := range apart {
		found = append(found, one.String())
	}
	if err != nil {
		found = append(found, "the log can't be held against what hooks have kept of it: "+cli.Shown(err))
	}
	return found
}

// tell raises an alert about the socket once.
func (l *lookout) tell(ctx context.Context, message string) {
	if l.said == message {
		return
	}
	l.said = message
	if err := l.backend.Alarm(ctx, alertImpostor, message); err != nil && ctx.Err() == nil {
		l.logger.Warn("an alert could not be recorded", "error", err.Error())
	}
}

// others are the alerts that hooks have recorded in processes of their own lately, and that people have not been told of.
func (l *lookout) others(ctx context.Context) (lately []string) {
	entries, err := l.backend.Store.Entries(ctx, interlock.EventAlert, ledger.Before(-1, setup.MaxInstalled))
	if err != nil {
		return nil
	}
	newest := l.last
	for _, e := range entries {
		newest = max(newest, e.Index)
		if e.Index <= l.last {
			break
		}
		code, message := auditlog.AlertOf(e)
		if code != alertImpostor && code != audit.AlertHistories && code != governance.AlertSettings {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil || cli.Now().Sub(event.Recorded) > bannerFor || message == l.said {
			continue
		}
		if code == governance.AlertSettings { // which settings have no effect is looked at besides, as they are now
			if l.last >= 0 && message != l.weaker {
				l.backend.Tell(code, message)
			}
			continue
		}
		l.heard[e.Index], l.texts[e.Index] = event.Recorded, message
		if l.last >= 0 { // it came while this process ran
			l.backend.Tell(code, message)
		}
	}
	l.last = max(newest, 0)
	for index, at := range l.heard {
		if cli.Now().Sub(at) > bannerFor {
			delete(l.heard, index)
			delete(l.texts, index)
			continue
		}
		if !slices.Contains(lately, l.texts[index]) {
			lately = append(lately, l.texts[index])
		}
	}
	slices.Sort(lately)
	return lately
}

// watching is the view of a directory, where somebody works in it.
func (l *lookout) watching(view func(string) interlock.View) func(string) interlock.View {
	return func(dir string) interlock.View {
		l.saw(dir)
		return view(dir)
	}
}

// socketOf is the server's socket where there is one.
func socketOf(settings config.Config) string {
	path := config.Socket(settings.Home)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}
