package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/advice"
	"interlock/internal/config"
	"interlock/internal/explain"
	"interlock/internal/harness"
	"interlock/internal/ledger"
	"interlock/internal/lineage"
	"interlock/internal/notice"
	"interlock/internal/store"
)

// NamedHome is the home that a printed command has to name: none where `interlock` finds it by itself.
func (p *Program) NamedHome() string {
	if p.Globals.Home == "" {
		return ""
	}
	if usual, err := config.DefaultHome(p.Getenv); err == nil && usual == p.Globals.Home {
		return ""
	}
	return p.Globals.Home
}

// Printed is a text for people, whose commands work on the home of this program as they stand.
func (p *Program) Printed(text string) string { return advice.Commands(text, p.NamedHome()) }

// A busyHome is a home that coding agents of this user are registered with.
type busyHome struct {
	Home string
	By   []string // the agents
}

// otherHomes are the homes that hooks of this user's agents decide in, other than one, and that hold a log.
func (p *Program) otherHomes(home string) []busyHome {
	var found []busyHome
	own, err := OwnPath()
	if err != nil {
		own = "" // registrations are known by the program's name as well
	}
	for _, name := range harness.Names() {
		h, _ := harness.ByName(name)
		status, err := h.Status(p.Place(""), own)
		if err != nil { // doctor says what is wrong with it
			continue
		}
		seen := map[string]bool{home: true, "": true}
		for _, r := range status.Registrations {
			if other := r.Home(); !seen[other] && store.Exists(other) {
				seen[other] = true
				found = add(found, other, name)
			}
		}
	}
	return found
}

func add(homes []busyHome, home, by string) []busyHome {
	for i := range homes {
		if homes[i].Home == home {
			homes[i].By = append(homes[i].By, by)
			return homes
		}
	}
	return append(homes, busyHome{home, []string{by}})
}

// fewEntries is how many a log may have in which nothing was decided: what was set up is in it.
const fewEntries = 64

// noteElsewhere says of a home in which nothing has happened yet where something does.
func (p *Program) noteElsewhere(backend *embedded.Backend) {
	head, err := backend.Store.Head(p.Ctx)
	if err != nil || head.Size > fewEntries {
		return
	}
	for _, kind := range []interlock.EventType{interlock.EventDecision, interlock.EventBlock, interlock.EventReviewRequest} {
		if decided, err := backend.Store.Entries(p.Ctx, kind, ledger.Before(-1, 1)); err != nil || len(decided) > 0 {
			return
		}
	}
	for _, other := range p.otherHomes(backend.Settings.Home) {
		fmt.Fprintf(p.Stderr, "nothing was decided in %s yet; the hooks of %s decide in another home: interlock --home %s %s\n",
			backend.Settings.Home, strings.Join(other.By, ", "), advice.Quoted(other.Home), Typed(p.Args))
	}
}

// Typed are arguments as they would be typed again, without a home.
func Typed(args []string) string {
	var words []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--home":
			i++
		case strings.HasPrefix(args[i], "--home="):
		default:
			words = append(words, advice.Quoted(args[i]))
		}
	}
	return strings.Join(words, " ")
}

// WaysHere makes the commands of an explanation ones that work as printed.
func (p *Program) WaysHere(e *explain.Explanation) {
	for i := range e.Ways {
		for j := range e.Ways[i].Run {
			e.Ways[i].Run[j] = p.Printed(e.Ways[i].Run[j])
		}
	}
}

// NoFile refuses a home that is a file, or lies below one.
func NoFile(home string) error {
	for at := home; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return interlock.Errorf(interlock.CodeInvalid, "--home", "%s is a file and no directory; name another home", at)
		}
		if err == nil || filepath.Dir(at) == at {
			return nil
		}
	}
}

// fenceTime is how long a command waits for people to be told that it was refused.
const fenceTime = 5 * time.Second

// Person refuses a command that governs where a harness, a hook, a server or a sandbox is above it. It is a fence and no wall: a process
// that is detached well enough is not seen, and then the signature is what holds. Each attempt is an event and is told on the channels.
func (p *Program) Person(backend *embedded.Backend, about string) error {
	seen, found := lineage.Machine(p.Getenv)
	if !found {
		return nil
	}
	refusal := interlock.Errorf(interlock.CodeUnauthorized, "",
		"this takes a person, and the command comes from %s; type it in a terminal of your own", seen)
	_, err := backend.RefuseApproval(p.Ctx, "agent", seen.Name, about, refusal)
	p.warn(backend.Settings, seen.Name+": tried to govern: "+refusal.Message)
	if err != nil {
		return fmt.Errorf("%w (and the attempt could not be recorded)", refusal)
	}
	return refusal
}

// warn tells people on the channels, for a moment. What they don't hear now is in the log.
func (p *Program) warn(settings config.Config, message string) {
	channels, err := embedded.Channels(settings)
	if err != nil || channels == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.Ctx, fenceTime)
	defer cancel()
	_ = channels.Notify(ctx, notice.Notice{Severity: interlock.TierVerify, Kind: "alert", Rule: "approval-refused", Reason: message})
}

func (p *Program) Place(project string) harness.Place {
	return harness.Place{Home: UserHome(p.Getenv), Project: project, Getenv: p.Getenv, GOOS: runtime.GOOS}
}

// OwnPath is the path to register: this binary, where it will still be tomorrow.
func OwnPath() (string, error) {
	binary, err := os.Executable()
	if err != nil {
		return "", interlock.Errorf(interlock.CodeUnavailable, "", "this program's own path can't be found")
	}
	if strings.Contains(filepath.ToSlash(binary), "/go-build") {
		return "", interlock.Errorf(interlock.CodeInvalid, "",
			"this binary was built for one run only; install it with go install or make build first")
	}
	return binary, nil
}
