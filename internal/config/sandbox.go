package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
)

// Sandbox holds the settings of `interlock exec`, see [Config].
type Sandbox struct {
	Profile  string                    `json:"profile"`
	Profiles map[string]SandboxProfile `json:"profiles"`
}

// A SandboxProfile is what one kind of run may use. What is not set is as in the profile default.
type SandboxProfile struct {
	Time      Duration `json:"time"`      // by the clock on the wall
	Memory    Size     `json:"memory"`    // of all processes together
	Disk      Size     `json:"disk"`      // written to disk, or into the throw-away copy
	Processes int      `json:"processes"` // and threads, at once
	Files     int      `json:"files"`     // open, of each process
	Output    Size     `json:"output"`    // standard output and error together
	Overlay   bool     `json:"overlay"`   // writes go to a throw-away copy
	Sockets   bool     `json:"sockets"`   // unix sockets may be made
	Hosts     []string `json:"hosts"`     // name or name:port (else 443) that the proxy may be asked for
	Read      []string `json:"read"`      // further paths that are readable inside
	Path      []string `json:"path"`      // further directories of PATH
	Env       []string `json:"env"`       // names of variables that are passed on
	Startup   []string `json:"startup"`   // patterns of start-up files that are protected; [] none
}

// SandboxProfiles returns the profiles that are there without any setting.
func SandboxProfiles() map[string]SandboxProfile {
	return map[string]SandboxProfile{
		"default": {Time: Duration(time.Minute), Memory: 512 << 20, Disk: 100 << 20, Processes: 64, Files: 100, Output: 1 << 20},
		"build": {Time: Duration(10 * time.Minute), Memory: 4 << 30, Disk: 2 << 30, Processes: 512, Files: 1024,
			Output: 16 << 20},
		"scratch": {Time: Duration(10 * time.Second), Memory: 256 << 20, Disk: 20 << 20, Processes: 32, Files: 64,
			Output: 256 << 10, Overlay: true},
	}
}

// Named returns a profile, complete; the empty name is the one that is set, or default.
func (s Sandbox) Named(name string) (SandboxProfile, error) {
	field := "sandbox"
	if name == "" {
		name, field = s.Profile, "sandbox.profile"
	}
	if name == "" {
		name = "default"
	}
	shipped := SandboxProfiles()
	base := shipped["default"]
	if own, known := s.Profiles["default"]; known {
		base = own.over(base)
	}
	if own, known := s.Profiles[name]; known {
		if same, known := shipped[name]; known {
			base = same
		}
		return own.over(base), nil
	}
	if profile, known := shipped[name]; known {
		return profile.over(base), nil
	}
	return SandboxProfile{}, interlock.Errorf(interlock.CodeInvalid, field, "%.40q is not a profile; name one of %s", name,
		strings.Join(s.Names(), ", "))
}

// Names returns the names of all profiles, in order.
func (s Sandbox) Names() []string {
	var names []string
	for name := range SandboxProfiles() {
		names = append(names, name)
	}
	for name := range s.Profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// over returns p with what it leaves out taken from base.
func (p SandboxProfile) over(base SandboxProfile) SandboxProfile {
	if p.Time == 0 {
		p.Time = base.Time
	}
	for _, size := range [][2]*Size{{&p.Memory, &base.Memory}, {&p.Disk, &base.Disk}, {&p.Output, &base.Output}} {
		if *size[0] == 0 {
			*size[0] = *size[1]
		}
	}
	for _, number := range [][2]*int{{&p.Processes, &base.Processes}, {&p.Files, &base.Files}} {
		if *number[0] == 0 {
			*number[0] = *number[1]
		}
	}
	for _, list := range [][2]*[]string{{&p.Hosts, &base.Hosts}, {&p.Read, &base.Read}, {&p.Path, &base.Path},
		{&p.Env, &base.Env}, {&p.Startup, &base.Startup}} {
		if *list[0] == nil {
			*list[0] = *list[1]
		}
	}
	p.Overlay, p.Sockets = p.Overlay || base.Overlay, p.Sockets || base.Sockets
	return p
}

var (
	variableForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	})
	hostForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	})
)

// check refuses settings that no run could be made of.
func (s Sandbox) check() error {
	for _, name := range s.Names() {
		p := s.Profiles[name]
		at := "sandbox/profiles/" + name
		if p.Processes < 0 || p.Files < 0 {
			return interlock.Errorf(interlock.CodeInvalid, at, "processes and files must be at least 1")
		}
		for _, host := range p.Hosts {
			if !ValidHost(host) {
				return interlock.Errorf(interlock.CodeInvalid, at+"/hosts",
					"%.80q is not a host such as example.com or example.com:8443", host)
			}
		}
		for _, variable := range p.Env {
			if !variableForm().MatchString(variable) {
				return interlock.Errorf(interlock.CodeInvalid, at+"/env", "%.80q is not the name of a variable", variable)
			}
		}
		for _, path := range append(append([]string{}, p.Read...), p.Path...) {
			if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
				return interlock.Errorf(interlock.CodeInvalid, at, "%.80q is not an absolute path below the root", path)
			}
		}
	}
	_, err := s.Named("")
	return err
}

// ValidHost reports whether a word names a host of the proxy: a name, or name:port.
func ValidHost(host string) bool { return hostForm().MatchString(host) }

// A Size is a number of bytes written as text, such as "512MB". Units are powers of 1024.
type Size int64

// UnmarshalText reads a positive whole number with a unit: B, KB, MB or GB.
func (s *Size) UnmarshalText(text []byte) error {
	word := strings.ToUpper(strings.TrimSpace(string(text)))
	unit := int64(1)
	for _, u := range []struct {
		name string
		size int64
	}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"B", 1}} {
		if rest, found := strings.CutSuffix(word, u.name); found {
			word, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n <= 0 || n > (1<<50)/unit {
		return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is not a size such as 512MB", text)
	}
	*s = Size(n * unit)
	return nil
}

// MarshalText writes the size in bytes.
func (s Size) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(s), 10), nil }
