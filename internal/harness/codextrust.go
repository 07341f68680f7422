package harness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/fileio"

	"github.com/pelletier/go-toml/v2"
)

// codexConfig is what Codex's configuration says of hooks.
type codexConfig struct {
	Features map[string]any `toml:"features"`
	Hooks    struct {
		State map[string]codexState `toml:"state"`
	} `toml:"hooks"`
	Projects map[string]struct {
		Trust string `toml:"trust_level"`
	} `toml:"projects"`
}

// codexState is what Codex keeps of one hook: the hash of what its user reviewed, and whether it is switched off.
type codexState struct {
	Hash    string `toml:"trusted_hash"`
	Enabled *bool  `toml:"enabled"`
}

// codexReview is how its user makes Codex run hooks.
const codexReview = "start codex in a terminal, which says that hooks need review, or open /hooks there, and trust them; codex exec never asks"

// codexStatus adds to what is in the settings what the machine's administrator has registered for everybody, which needs no
// trust, and says what keeps the rest from running.
func (h Harness) codexStatus(place Place, binary string, s *Status) error {
	path, managed, err := h.codexManaged(place, binary)
	if err != nil {
		return err
	}
	everybodys := func(event string) bool {
		return slices.ContainsFunc(managed.found, func(r Registration) bool { return r.Event == event })
	}
	own := slices.DeleteFunc(slices.Clone(s.Registrations), func(r Registration) bool { return everybodys(r.Event) })
	if len(managed.found) > 0 {
		if !s.Exists {
			s.Path, s.Exists, s.Missing = path, true, slices.Clone(h.Events)
		}
		s.Missing = slices.DeleteFunc(s.Missing, everybodys)
		s.Registrations = append(s.Registrations, managed.found...)
	}
	if len(s.Registrations) > 0 {
		s.Problems = append(s.Problems, h.codexProblems(place, own, managed.pinned)...)
	}
	return nil
}

// codexManaged is what is registered for everybody on a machine.
type codexManaged struct {
	found  []Registration
	pinned bool // no user can switch hooks off
}

// codexManaged reads Codex's requirements, which are not a project's and which no user can change.
func (h Harness) codexManaged(place Place, binary string) (path string, m codexManaged, err error) {
	if place.Project != "" || place.System == "" && place.GOOS == "windows" {
		return "", m, nil
	}
	path = filepath.Join(cmp.Or(place.System, "/etc"), "codex", "requirements.toml")
	text, err := fileio.Plain(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return path, m, nil
	}
	var all struct {
		Features map[string]any `toml:"features"`
		Hooks    map[string]any `toml:"hooks"`
	}
	if err == nil {
		err = shallow(text)
	}
	if err == nil {
		err = toml.Unmarshal(text, &all)
	}
	if err == nil && len(all.Hooks) == 0 {
		return path, m, nil
	}
	var list []byte
	if err == nil {
		list, err = json.Marshal(map[string]any{"hooks": all.Hooks})
	}
	if err != nil {
		return path, m, about(path, errors.New("can't be read, so it is not known which hooks Codex runs"))
	}
	d, err := read(list)
	if err != nil {
		return path, m, about(path, err)
	}
	hooks, err := d.hooks()
	if err != nil {
		return path, m, about(path, err)
	}
	for _, event := range h.Events {
		found, err := registered(hooks, event)
		if err != nil {
			return path, m, about(path, err)
		}
		m.found = append(m.found, h.registrations(event, found, binary)...)
	}
	m.pinned = all.Features["hooks"] == true
	return path, m, nil
}

// codexProblems finds out under which of the registrations Codex, as it is configured, would run nothing. It says nothing of
// that itself: a hook that is not trusted in its present form is skipped without a word.
func (h Harness) codexProblems(place Place, registrations []Registration, pinned bool) []string {
	project := place.Project
	place.Project = "" // a project's own configuration can't trust hooks
	path := filepath.Join(filepath.Dir(h.Settings(place)), "config.toml")
	var config codexConfig
	text, err := fileio.Plain(path, maxFile)
	if err == nil {
		err = shallow(text)
	}
	if err == nil {
		err = toml.Unmarshal(text, &config)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return []string{path + " can't be read, so it is not known whether Codex trusts the hooks"}
	}
	var problems, unknown, changed, disabled []string
	for _, name := range []string{"hooks", "codex_hooks"} {
		if config.Features[name] == false && !pinned {
			problems = append(problems, path+" switches "+name+" off under [features], so no hook runs")
		}
	}
	if project != "" && !config.trustsProject(project) {
		problems = append(problems, "Codex has not been told to trust "+project+" and passes over its hooks: start codex there and trust the folder")
	}
	for _, r := range registrations {
		switch state, known := config.stateOf(r.trust); {
		case !known || state.Hash == "":
			unknown = append(unknown, r.Event)
		case r.hash != "" && state.Hash != r.hash:
			changed = append(changed, r.Event)
		case state.Enabled != nil && !*state.Enabled:
			disabled = append(disabled, r.Event)
		}
	}
	if len(unknown) > 0 {
		problems = append(problems, "Codex has not been told to trust the hooks for "+strings.Join(unknown,
			", ")+" and skips them: "+codexReview)
	}
	if len(changed) > 0 {
		problems = append(problems, "the hooks for "+strings.Join(changed,
			", ")+" are not as they were when Codex was told to trust them, so it skips them: "+codexReview)
	}
	if len(disabled) > 0 {
		problems = append(problems, "the hooks for "+strings.Join(disabled,
			", ")+" are switched off in Codex: switch them on in its /hooks")
	}
	return problems
}

// stateOf finds what is kept under a hook's key, which begins with the path of its file: as it is named or, where links lead
// there, as it lies.
func (c codexConfig) stateOf(key string) (codexState, bool) {
	if state, known := c.Hooks.State[key]; known {
		return state, true
	}
	path, rest, _ := strings.Cut(key, codexFile+":")
	real, err := filepath.EvalSymlinks(path + codexFile)
	if err != nil {
		return codexState{}, false
	}
	state, known := c.Hooks.State[real+":"+rest]
	return state, known
}

// trustsProject reports whether a directory, or one that holds it, is trusted.
func (c codexConfig) trustsProject(project string) bool {
	real, err := filepath.EvalSymlinks(project)
	if err != nil {
		real = project
	}
	for dir, trusted := range c.Projects {
		if trusted.Trust == "trusted" && slices.ContainsFunc([]string{project, real}, func(p string) bool {
			return p == dir || strings.HasPrefix(p,
				strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
		}) {
			return true
		}
	}
	return false
}

// codexFile is the file that holds Codex's hooks.
const codexFile = "hooks.json"

// codexHash is the hash under which Codex keeps that a handler was reviewed: of the event, what it is matched with and the
// handler with Codex's own values for what it leaves out, as JSON with sorted members. It is empty for a handler with members
// that are not known here, whose hash can't be told.
func codexHash(event string, group, handler map[string]any) string {
	whole := map[string]any{"type": "command", "timeout": 600, "async": false}
	for name, value := range handler {
		switch name {
		case "type", "command", "timeout", "async", "statusMessage":
			whole[name] = value
		case "command_windows", "commandWindows": // takes the command's place on Windows, where Interlock's two are the same
		default:
			return ""
		}
	}
	identity := map[string]any{"event_name": snake(event), "hooks": []any{whole}}
	if matcher, given := group["matcher"]; given && matcher != nil {
		identity["matcher"] = matcher
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(identity); err != nil {
		return "" // unreachable: it came out of JSON
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// codexKey is the key under which Codex keeps that a handler was reviewed, without the path of its file.
func codexKey(event string, group, handler int) string {
	return fmt.Sprintf("%s:%d:%d", snake(event), group, handler)
}

// snake writes an event's name as Codex keeps it: PreToolUse is pre_tool_use.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
