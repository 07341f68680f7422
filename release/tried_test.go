package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"interlock/test/wait"
)

// tool is a program that scripts/setup.sh builds from ./_tools.
func tool(t *testing.T, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path, err := filepath.Abs(filepath.Join("..", "bin", "tools", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; `make setup` builds it", err)
	}
	return path
}

// soonRefused has the script measure how long it is from the archive to a canary that was refused.
func soonRefused(t *testing.T, r *release) {
	archive := filepath.Join(r.out, "interlock_"+r.version+"_linux_"+runtime.GOARCH+".tar.gz")
	said := run(t, 0, "..", "scripts/first-canary.sh", archive)
	var commands int
	var seconds float64
	if _, err := fmt.Sscanf(said, "%d commands, %f s", &commands, &seconds); err != nil || commands > 3 || seconds > 60 {
		t.Errorf("%v: %s, want at most 3 commands and 60 s", err, said)
	}
}

// fromRPM installs the package into a root of its own, runs what is there, and removes it without a trace.
func fromRPM(t *testing.T, r *release) {
	rpm, err := exec.LookPath("rpm")
	if err != nil { // elsewhere than where setup puts it the bytes are all that is held
		return
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	file := filepath.Join(r.out, "interlock-"+r.tilde()+"-1."+arch+".rpm")
	root := t.TempDir()
	said := func(args ...string) string {
		// A namespace in which this user is root, and may change the root: a package may bring scripts.
		args = append([]string{"--user", "--map-root-user", rpm, "--root", root, "--dbpath", "/db"}, args...)
		return run(t, 0, root, "unshare", args...)
	}
	run(t, 0, root, rpm, "--checksig", "--nosignature", file)
	if scripts := strings.TrimSpace(run(t, 0, root, rpm, "-qp", "--scripts", "--triggers", file)); scripts != "" {
		t.Errorf("the package brings scripts: %s", scripts)
	}
	said("--initdb")
	said("-i", file) // with its dependencies checked: it has none that must be there
	run(t, 20, root, filepath.Join(root, "usr", "bin", "interlock"), "check", "rm -rf /")
	names := said("-ql", "interlock")
	for _, name := range []string{"bin/interlock-hook", "share/man/man1/interlock.1.gz", "share/zsh/site-functions/_interlock"} {
		if _, err := os.Stat(filepath.Join(root, "usr", name)); err != nil || !strings.Contains(names, "/usr/"+name+"\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	said("-V", "interlock")
	said("-e", "interlock")
	left, err := filepath.Glob(filepath.Join(root, "usr", "*", "*interlock*"))
	more, _ := filepath.Glob(filepath.Join(root, "usr", "share", "*", "*interlock*"))
	if left = append(left, more...); len(left) > 0 || err != nil {
		t.Errorf("what stays: %q %v", left, err)
	}
}

// asFormula has Ruby read the formula, install from the archive and run the formula's own test, with a stand-in for Homebrew.
func asFormula(t *testing.T, r *release) {
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		return
	}
	name := func(goos, arch string) string { return "interlock_" + r.version + "_" + goos + "_" + arch + ".tar.gz" }
	host, err := os.ReadFile(filepath.Join(r.out, name("linux", runtime.GOARCH)))
	if err != nil {
		t.Fatal(err)
	}
	all := *r // a release of which all four archives are there
	all.out = t.TempDir()
	for _, goos := range []string{"darwin", "linux"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if err := write(filepath.Join(all.out, name(goos, arch)), append(bytes.Clone(host), goos+arch...), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	all.source = ".."
	if err := all.formula(""); err != nil {
		t.Fatal(err)
	}
	formula := filepath.Join(all.out, "homebrew", "interlock.rb")
	run(t, 0, "..", ruby, "-wc", formula)
	unpacked := t.TempDir()
	run(t, 0, unpacked, "tar", "-xzf", filepath.Join(r.out, name("linux", runtime.GOARCH)), "--strip-components=1")
	stand, err := filepath.Abs("testdata/formula.rb")
	if err != nil {
		t.Fatal(err)
	}
	for _, goos := range []string{"darwin", "linux"} {
		for _, arch := range []string{"amd64", "arm64"} {
			prefix := t.TempDir()
			var says struct{ URL, SHA256, Version, Desc, License string }
			out := run(t, 0, prefix, ruby, stand, formula, goos, arch, unpacked, prefix)
			if err := json.Unmarshal([]byte(out), &says); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			sum, err := all.sum(name(goos, arch))
			if err != nil || says.SHA256 != sum || says.URL != all.downloads()+"/"+name(goos, arch) || says.Version != r.version {
				t.Errorf("%s/%s: %+v, want %s of %s (%v)", goos, arch, says, sum, name(goos, arch), err)
			}
			for _, file := range []string{"bin/interlock", "bin/interlock-hook", "share/man/man1/interlock.1",
				"etc/bash_completion.d/interlock", "share/zsh/site-functions/_interlock", "share/fish/vendor_completions.d/interlock.fish"} {
				if _, err := os.Stat(filepath.Join(prefix, file)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// asImage builds the image from what is handed out and runs it as an engine would: its root file system as nobody's user, only
// read, with a volume that has the owner a new one takes from the image. Only root can. The base image is of a registry, and
// stays out: our programs need nothing of it here.
func asImage(t *testing.T, r *release) {
	if os.Getuid() != 0 {
		return
	}
	work := t.TempDir()
	store := []string{"--root", filepath.Join(work, "store"), "--runroot", filepath.Join(work, "run"), "--storage-driver", "vfs"}
	buildah := func(args ...string) string {
		t.Helper()
		command := exec.Command("buildah", append(store, args...)...)
		command.Env = append(os.Environ(), "HOME="+work)
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		if err := command.Run(); err != nil {
			t.Fatalf("buildah %q: %v\n%s", args, err, stderr.String())
		}
		return strings.TrimSpace(stdout.String())
	}
	buildah("build", "--isolation", "chroot", "--build-arg", "BASE=scratch", "-f", "Containerfile", "-t", "tried",
		filepath.Join(r.out, "container"))
	var image struct {
		OCIv1 struct {
			Architecture string
			Config       struct {
				User            string
				Env, Entrypoint []string
				Cmd             []string
				Volumes         map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(buildah("inspect", "--type", "image", "tried")), &image); err != nil {
		t.Fatal(err)
	}
	says := image.OCIv1.Config
	_, volume := says.Volumes["/var/lib/interlock"]
	if says.User != "65532:65532" || !volume || image.OCIv1.Architecture != runtime.GOARCH {
		t.Fatalf("%+v", image)
	}
	root := buildah("mount", buildah("from", "tried"))
	for _, dir := range []string{"tmp", "proc"} { // which the base image has
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The system chooses a port that is free, so the settings differ in it.
	settings := filepath.Join(root, "etc", "interlock", "interlock.yaml")
	text := read(t, settings)
	changed := strings.ReplaceAll(text, "0.0.0.0:7433", "0.0.0.0:0")
	if changed == text {
		t.Fatalf("the settings name no port 7433: %s", text)
	}
	if err := os.WriteFile(settings, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	contained := func(args ...string) *exec.Cmd {
		const script = `set -e
mount --bind "$1" "$1"
mount --bind "$1/var/lib/interlock" "$1/var/lib/interlock"
mount -o remount,bind,ro "$1"
mount -t tmpfs none "$1/tmp"
mount --bind /proc "$1/proc"
root=$1; shift
exec setpriv --no-new-privs chroot --userspec=65532:65532 --groups= "$root" "$@"`
		command := exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, "sh", root},
			append(says.Entrypoint, args...)...)...)
		command.Env = says.Env
		return command
	}
	if out, err := contained("version").CombinedOutput(); err != nil || !strings.Contains(string(out), "interlock "+r.version) {
		t.Fatalf("version: %v\n%s", err, out)
	}
	up := contained(append(says.Cmd, "--ready", "/var/lib/interlock/ready")...)
	var said bytes.Buffer
	up.Stdout, up.Stderr = &said, &said
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- up.Wait() }()
	t.Cleanup(func() { _ = up.Process.Kill() }) // it may have ended
	healthy(t, filepath.Join(root, "var", "lib", "interlock", "ready"), over, &said)
	out, err := contained("check", "rm -rf /").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "DENY") {
		t.Errorf("check: %v\n%s", err, out)
	}
	if out, err := contained("--config", "/etc/interlock/interlock.yaml", "doctor", "--json").CombinedOutput(); !bytes.Contains(out,
		[]byte(`{"name":"server","status":"ok"`)) {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Errorf("it did not stop as it should: %v\n%s", err, said.String())
	}
	if _, err := os.Stat(filepath.Join(root, "var", "lib", "interlock", "home", "interlock.db")); err != nil {
		t.Error(err)
	}
}

// healthy waits until a server has written where it listens, and says that it is well and ready, as the probes of a cluster do.
func healthy(t *testing.T, ready string, over chan error, said fmt.Stringer) {
	t.Helper()
	for _, path := range []string{"/healthz", "/readyz"} {
		why := "it is not ready"
		if !wait.Holds(func() bool {
			select {
			case err := <-over:
				t.Fatalf("it ended: %v\n%s", err, said)
			default:
			}
			text, _ := os.ReadFile(ready) // not there yet is not ready yet
			port := regexp.MustCompile(`:([0-9]+)\s`).FindSubmatch(text)
			if port == nil {
				return false
			}
			answer, err := http.Get("http://127.0.0.1:" + string(port[1]) + path)
			if err != nil {
				why = err.Error()
				return false
			}
			answer.Body.Close()
			why = answer.Status
			return answer.StatusCode == http.StatusOK
		}) {
			t.Fatalf("%s: %s\n%s", path, why, said)
		}
	}
}
