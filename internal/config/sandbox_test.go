package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
)

func TestSandboxProfiles(t *testing.T) {
	home := write(t, `
sandbox:
  profile: ci
  profiles:
    default: {time: 2m, hosts: [mirror.example]}
    ci: {memory: 1GB, processes: 200, hosts: [], env: [CI_TOKEN], startup: []}
    build: {output: 64KB}
`)
	c, err := config.Load(home, "")
	if err != nil {
		t.Fatal(err)
	}
	base := config.SandboxProfile{Time: config.Duration(2 * time.Minute), Memory: 512 << 20, Disk: 100 << 20, Processes: 64,
		Files: 100, Output: 1 << 20, Hosts: []string{"mirror.example"}}
	ci := base
	ci.Memory, ci.Processes, ci.Hosts, ci.Env, ci.Startup = 1<<30, 200, []string{}, []string{"CI_TOKEN"}, []string{}
	build := config.SandboxProfiles()["build"]
	build.Output = 64 << 10
	for name, want := range map[string]config.SandboxProfile{"": ci, "ci": ci, "default": base, "build": build} {
		got, err := c.Sandbox.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("profile %q (-want +got):\n%s", name, diff)
		}
	}
}

func TestSandboxSettingsThatMeanNothingAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"sandbox: {profile: none}":                                    "sandbox.profile: \"none\" is not a profile; name one of build, default, scratch",
		"sandbox: {profiles: {x: {memory: lots}}}":                    "is not a size such as 512MB",
		"sandbox: {profiles: {x: {memory: 0MB}}}":                     "is not a size",
		"sandbox: {profiles: {x: {memory: 9999999999999GB}}}":         "is not a size",
		"sandbox: {profiles: {x: {processes: -1}}}":                   "must be at least 1",
		"sandbox: {profiles: {x: {hosts: ['https://example.com/']}}}": "is not a host",
		"sandbox: {profiles: {x: {env: ['A=b']}}}":                    "is not the name of a variable",
		"sandbox: {profiles: {x: {read: [relative]}}}":                "is not an absolute path",
		"sandbox: {profiles: {x: {read: [/]}}}":                       "is not an absolute path",
		"sandbox: {profiles: {x: {path: [/usr/../etc]}}}":             "is not an absolute path",
		"sandbox: {profiles: {x: {times: 1s}}}":                       "not known",
	} {
		if _, err := config.Load(write(t, text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
