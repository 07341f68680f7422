//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interlock"
	"interlock/internal/sandbox"
	"interlock/spec"
	"interlock/test/wait"
)

// self is the test binary, where the command inside can run it.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tries runs an attempt inside and fails if anything of it worked. Being killed for it is fine.
func (b *box) tries(args ...string) sandbox.Result {
	b.t.Helper()
	program := self(b.t)
	b.spec.Read = []string{program}
	r := b.run(append([]string{program, attemptWord}, args...)...)
	b.holds()
	return r
}

// holds fails if the last run says that it escaped, or could not be run at all.
func (b *box) holds() {
	b.t.Helper()
	if out := b.out.String(); strings.Contains(out, "ESCAPED") {
		b.t.Errorf("%s", out)
	}
	if text := b.err.String(); strings.Contains(text, "bwrap:") || strings.Contains(text, "syntax error") {
		b.t.Errorf("the attempt did not run: %s", text)
	}
}

// attack runs a script inside that prints ESCAPED if something worked.
func (b *box) attack(script string) sandbox.Result {
	b.t.Helper()
	r := b.sh("no() { if \"$@\" >/dev/null 2>&1; then echo \"ESCAPED: $*\"; fi; }\n" + script + "\necho tried")
	b.holds()
	return r
}

// a secret somewhere outside the workspace.
func secret(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("SECRET\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// attempts are what TestEscape tries, by the attack in the report.
var attempts = map[string]func(t *testing.T, b *box){
	"read the host's files": func(t *testing.T, b *box) {
		path := secret(t, filepath.Dir(b.workspace))
		b.attack(fmt.Sprintf("no cat %s; no ls %s; no cat /etc/shadow; no cat /etc/hostname; no ls /root; no ls /home; no ls /run; no ls /var/lib; no ls /boot; no ls /opt; no cat /etc/ssh/sshd_config; no ls /etc/ssl/private",
			path, filepath.Dir(path)+"/state"))
	},
	"read another agent's workspace and Interlock's own directory": func(t *testing.T, b *box) {
		home := filepath.Join(b.workspace, "var")
		other := filepath.Join(filepath.Dir(b.workspace), "other")
		for _, dir := range []string{home, other} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			secret(t, dir)
		}
		b.spec.Hide = []string{home}
		b.attack(fmt.Sprintf("no cat %s/secret; no cat var/secret; no touch var/x; no cat ../other/secret", other))
	},
	"write to the system": func(t *testing.T, b *box) {
		b.attack("no touch /usr/bin/evil; no touch /etc/evil; no touch /evil; no touch /bin/evil; no touch /dev/evil; no sh -c 'echo x > /etc/passwd'; no touch /lib/evil; no mkdir /home")
	},
	"read the host through /proc": func(t *testing.T, b *box) {
		path := secret(t, filepath.Dir(b.workspace))
		b.attack(fmt.Sprintf("for p in /proc/[0-9]*; do no cat $p/root%s; no cat $p/cwd/../secret; done\nno grep -a SECRET_OF_OURS /proc/1/environ; [ $(ls -d /proc/[0-9]* | wc -l) -lt 12 ] || echo ESCAPED: processes", path))
		b.tries("open", "r:/proc/kcore", "r:/proc/kallsyms", "r:/proc/kmsg", "r:/proc/keys", "r:/proc/timer_list", "r:/proc/1/mem")
	},
	"write the kernel's settings through /proc": func(t *testing.T, b *box) {
		b.tries("open", "w:/proc/sys/kernel/core_pattern", "w:/proc/sys/kernel/modprobe", "w:/proc/sys/vm/drop_caches",
			"w:/proc/sys/fs/file-max", "w:/proc/sys/kernel/hostname",
			"w:/proc/sys/net/ipv4/ip_forward", "w:/proc/irq/default_smp_affinity")
		b.attack("no sh -c 'echo b > /proc/sysrq-trigger'; no sh -c 'echo 0 0 1 > /proc/self/uid_map'; no sh -c 'echo -1000 > /proc/self/oom_score_adj'")
	},
	"find /sys, disks or memory under /dev": func(t *testing.T, b *box) {
		b.attack("no ls /sys/kernel; no ls /dev/vda /dev/sda /dev/nvme0; no ls /dev/mem; no ls /dev/kmsg; no ls /dev/kvm; no ls /dev/fuse; no ls /dev/net/tun; no ls /dev/disk; no sh -c 'ls /dev | grep -vxE \"console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero\"'")
	},
	"follow a link in the workspace out of it": func(t *testing.T, b *box) {
		path := secret(t, filepath.Dir(b.workspace))
		b.attack(fmt.Sprintf("ln -s %s link; no cat link; ln -s %s up; touch up/evil; ln -s ../secret rel; no cat rel; ln -s /etc etc; no touch etc/evil; no ln %s hard",
			path, filepath.Dir(path), path))
		if exists(filepath.Join(filepath.Dir(path), "evil")) { // inside, there is an empty directory of that name
			t.Error("ESCAPED: a file was made beside the workspace")
		}
	},
	"have a planted link mounted in the next run": func(t *testing.T, b *box) {
		path := secret(t, filepath.Dir(b.workspace))
		b.sh(fmt.Sprintf("ln -s %s CLAUDE.md; ln -s %s .claude; ln -s /etc .git", path, filepath.Dir(path)))
		for name, target := range map[string]string{"AGENTS.md": path, ".vscode": filepath.Dir(path)} { // as if somebody had made them outside
			if err := os.Symlink(target, filepath.Join(b.workspace, name)); err != nil {
				t.Fatal(err)
			}
		}
		b.attack("for f in CLAUDE.md* .claude*/secret AGENTS.md .vscode/secret .git*/shadow; do no cat $f; done")
	},
	"swap a directory for a link while another sandbox is built": swapWhileBuilding,
	"use a file descriptor that was left open": func(t *testing.T, b *box) {
		b.put(map[string]string{"CLAUDE.md": "good\n", ".git/hooks/x": "x\n"})
		leak, err := syscall.Open(filepath.Dir(b.workspace), syscall.O_RDONLY, 0) // as whoever started us may have left one
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(leak)
		b.attack("for f in /proc/self/fd/*; do case ${f##*/} in 0|1|2|3|10|255) ;; *) echo ESCAPED: $f $(readlink $f);; esac; done; no sh -c 'exec 9>/proc/1/fd/3; echo x >&9'\nfor f in /proc/1/fd/*; do no touch $f/evil; done")
	},
	"trace or read another process": func(t *testing.T, b *box) { b.tries("calls"); b.tries("open", "r:/proc/1/mem") },
	"signal a process outside": func(t *testing.T, b *box) {
		victim := exec.Command("sleep", "60")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		b.tries("signal", fmt.Sprint(victim.Process.Pid))
		if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("ESCAPED: a process outside was ended: %v", err)
		}
	},
	"leave a process behind": func(t *testing.T, b *box) {
		name := "left-behind-" + filepath.Base(filepath.Dir(b.workspace))
		b.sh(fmt.Sprintf("for i in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 60; done' %s </dev/null >/dev/null 2>&1 & done; exit 0", name))
		if left := processes(t, name); len(left) > 0 {
			t.Errorf("ESCAPED: %v go on", left)
		}
	},
	"outlive Interlock when it is killed": outliveKill,
	"reach the host's servers": func(t *testing.T, b *box) {
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			b.tries("connect", "tcp", l.Addr().String())
		}
		b.attack("no ping -c 1 -W 1 127.0.0.53; [ $(grep -c : /proc/net/dev) = 1 ] || echo ESCAPED: $(cat /proc/net/dev)")
	},
	"reach the metadata service of a cloud": func(t *testing.T, b *box) {
		b.tries("connect", "tcp", "169.254.169.254:80")
		b.tries("connect", "tcp", "[fd00:ec2::254]:80")
		b.tries("connect", "udp", "169.254.169.254:53")
	},
	"reach a unix socket by path or by abstract name": func(t *testing.T, b *box) {
		dir, err := os.MkdirTemp("/tmp", "") // a socket's path is short
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Mkdir(dir+"/w", 0o755); err != nil {
			t.Fatal(err)
		}
		inside, abstract := dir+"/w/docker.sock", fmt.Sprintf("@interlock-escape-%d", os.Getpid())
		for _, name := range []string{inside, abstract} {
			l, err := net.Listen("unix", name)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		b.spec.Workspace, b.spec.Dir = dir+"/w", dir+"/w"
		b.tries("unix", inside, abstract, "/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private", "/tmp/.X11-unix/X0")
		b.attack("[ -S docker.sock ] || echo ESCAPED: the test has no socket")
	},
	"leave a virtual machine by vsock":         func(t *testing.T, b *box) { b.tries("calls") },
	"reach a private address by a public name": privateByName,
	"reach a host that is not named":           unnamedHost,
	"type into the terminal":                   func(t *testing.T, b *box) { b.tries("terminal") },
	"make a user namespace and be root in it":  func(t *testing.T, b *box) { b.tries("calls"); b.attack("no unshare -Ur true; no unshare -Urm true") },
	"mount something": func(t *testing.T, b *box) {
		b.tries("calls")
		b.attack("no mount -t tmpfs none /tmp; no umount /proc; no mount -o remount,rw /usr")
	},
	"load code into the kernel": func(t *testing.T, b *box) { b.tries("calls") },
	"use another calling convention or a newer system call": func(t *testing.T, b *box) {
		if r := b.tries("convention"); r.Exit == 0 {
			t.Errorf("ESCAPED: exit 0: %s", b.out.String())
		}
		b.tries("calls")
	},
	"gain privileges by a setuid program": func(t *testing.T, b *box) {
		b.tries("setuid")
		b.attack("no su -c true; no sudo -n true; no chown 0 .; no chmod u+s /usr/bin/id")
	},
	"fork without end": func(t *testing.T, b *box) {
		b.spec.Limits.Time = 3 * time.Second
		name := "fork-bomb-" + filepath.Base(filepath.Dir(b.workspace))
		var most int
		watched := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(watched)
			for {
				select {
				case <-done:
					return
				default:
					wait.Chance(5 * time.Millisecond)
					most = max(most, len(processes(t, name)))
				}
			}
		}()
		r := b.run("python3", "-c", forkBomb, name)
		close(done)
		<-watched
		if most > b.spec.Limits.Processes || most == 0 {
			t.Errorf("ESCAPED: %d processes at once; it ended with %d, %q", most, r.Exit, r.Stopped)
		}
		if left := processes(t, name); len(left) > 0 {
			t.Errorf("ESCAPED: %d processes go on", len(left))
		}
	},
	"take all memory": func(t *testing.T, b *box) {
		b.spec.Limits.Memory, b.spec.Limits.Processes = 128<<20, 200
		for _, how := range []string{"one", "many"} {
			if r := b.tries("memory", how); r.Exit == 0 {
				t.Errorf("ESCAPED: it ended with 0: %s", b.out.String())
			}
		}
	},
	"take all memory by files in memory": func(t *testing.T, b *box) {
		b.spec.Limits.Memory, b.spec.Limits.Disk = 64<<20, 16<<20
		b.tries("memfd")
		b.attack("no head -c 40m /dev/zero -c 40m | no dd if=/dev/zero of=/dev/shm/x bs=1M count=40; no dd if=/dev/zero of=/tmp/x bs=1M count=40")
	},
	"fill the disk": func(t *testing.T, b *box) {
		b.spec.Limits.Disk = 8 << 20
		for _, script := range []string{
			"dd if=/dev/zero of=big bs=1M count=64 2>/dev/null && echo ESCAPED",
			"i=0; while [ $i -lt 400 ]; do dd if=/dev/zero of=f$i bs=1M count=4 2>/dev/null || exit 1; i=$((i+1)); done; echo ESCAPED",
			"exec python3 -c '" + holdUnlinked + "'",
			"i=0; while [ $i -lt 400 ]; do fallocate -l 7M g$i || exit 1; i=$((i+1)); done; echo ESCAPED",
		} {
			r := b.sh(script)
			b.holds()
			if used := usage(t, b.workspace); used > 2<<30 || r.Exit == 0 && r.Stopped == "" {
				t.Errorf("ESCAPED: %q ended with %d, %q and left %d MB", script, r.Exit, r.Stopped, used>>20)
			}
			if err := os.RemoveAll(b.workspace); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(b.workspace, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	},
	"fill /tmp": func(t *testing.T, b *box) {
		b.spec.Limits.Disk = 8 << 20
		b.attack("i=0; while [ $i -lt 5 ]; do dd if=/dev/zero of=/tmp/$i bs=1M count=4 2>/dev/null || break; i=$((i+1)); done; [ $i -lt 3 ] || echo ESCAPED: $i")
	},
	"open files without end": func(t *testing.T, b *box) { b.tries("many-files") },
	"print without end": func(t *testing.T, b *box) {
		for _, to := range []string{"", " >&2"} {
			r := b.sh("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" + to + "; done")
			if r.Stopped != "output" || int64(b.out.Len()+b.err.Len()) > b.spec.Limits.Output {
				t.Errorf("ESCAPED: stopped %q after %d bytes", r.Stopped, b.out.Len()+b.err.Len())
			}
		}
	},
	"take all time": func(t *testing.T, b *box) {
		b.spec.Limits.Time = 300 * time.Millisecond
		r := b.sh("trap '' TERM INT HUP; while :; do :; done")
		if r.Stopped != "time" {
			t.Errorf("ESCAPED: %+v", r)
		}
	},
	"change a start-up file that is there": func(t *testing.T, b *box) {
		good := map[string]string{"CLAUDE.md": "good\n", ".git/hooks/pre-commit": "good\n", ".git/config": "good\n",
			".envrc": "good\n", "deep/down/AGENTS.md": "good\n", ".vscode/tasks.json": "good\n"}
		b.put(good)
		var script strings.Builder
		for name := range good {
			fmt.Fprintf(&script, "no sh -c 'echo evil > %[1]s'; no rm -f %[1]s; no mv %[1]s x; no ln -f /usr/bin/env %[1]s; no chmod 777 %[1]s; no cp /usr/bin/env %[1]s\n", name)
		}
		b.attack(script.String() + "no touch .git/hooks/post-checkout; no sed -i s/good/evil/ CLAUDE.md")
		for name, text := range good {
			if got, err := os.ReadFile(filepath.Join(b.workspace, name)); err != nil || string(got) != text {
				t.Errorf("ESCAPED: %s is now %q, %v", name, got, err)
			}
		}
	},
	"make a start-up file": func(t *testing.T, b *box) {
		r := b.attack("mkdir -p .git/hooks sub/.claude; echo evil > .git/hooks/pre-commit; echo evil > .git/config; echo evil > .envrc; echo evil > sub/CLAUDE.md; echo evil > sub/.claude/settings.json; echo evil > .EnvRC2; echo fine > README.md")
		want := []string{".envrc", ".git/config", ".git/hooks", "sub/.claude", "sub/CLAUDE.md"}
		var got []string
		for _, e := range r.Effects {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("set aside %q, want %q", got, want)
		}
		b.noStartups()
	},
	"move a start-up file's directory and make another": func(t *testing.T, b *box) {
		for name, script := range map[string]string{
			"another directory": "mv .git old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
			"a link":            "mv .git old && mkdir -p evil/hooks && echo evil > evil/hooks/pre-commit && ln -s evil .git",
			"a file":            "mv .git old && mkdir -p evil/hooks && echo evil > evil/hooks/pre-commit && echo 'gitdir: evil' > .git",
			"a deep directory":  "mv a z && mkdir -p a/b && echo evil > a/b/CLAUDE.md",
		} {
			b.put(map[string]string{".git/hooks/pre-commit": "good\n", ".git/HEAD": "ref: x\n", "a/b/CLAUDE.md": "good\n"})
			b.attack(script)
			for _, path := range []string{".git", ".git/hooks/pre-commit", "a/b/CLAUDE.md"} {
				info, err := os.Lstat(filepath.Join(b.workspace, path))
				if err != nil {
					continue
				}
				if text, _ := os.ReadFile(filepath.Join(b.workspace, path)); bytes.Contains(text, []byte("evil")) || info.Mode()&os.ModeSymlink != 0 {
					t.Errorf("ESCAPED by %s: %s is %v, %q", name, path, info.Mode(), text)
				}
			}
			if err := os.RemoveAll(b.workspace); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(b.workspace, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	},
	"have a start-up file kept from a throw-away copy": func(t *testing.T, b *box) {
		b.spec.Overlay, b.spec.Keep, b.spec.Self = true, true, self(t)
		r := b.attack("mkdir -p .git/hooks evil/hooks .github; echo evil > .git/hooks/pre-commit; echo evil > .envrc; ln -s /etc out; ln -s ../x up; ln -s evil .husky; echo fine > fine; mkfifo p; rm -r .github; ln -s evil .github")
		if !r.Kept {
			t.Fatalf("nothing was kept: %+v", r)
		}
		b.noStartups()
		for _, name := range []string{"out", "up", "p", ".husky", ".github"} {
			if _, err := os.Lstat(filepath.Join(b.workspace, name)); err == nil {
				t.Errorf("ESCAPED: %s was kept", name)
			}
		}
	},
}

// forkBomb makes processes for two seconds, each of which does the same.
const forkBomb = `
import os, time
end = time.time() + 2
while time.time() < end:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
`

// holdUnlinked fills files that have no name any more.
const holdUnlinked = `
import os
held = []
for i in range(80):
    f = open("gone", "wb"); os.unlink("gone"); held.append(f)
    f.write(bytes(4 << 20)); f.flush(); os.fsync(f.fileno())
print("ESCAPED")
`

// noStartups fails if the workspace holds anything that is obeyed later.
func (b *box) noStartups() {
	b.t.Helper()
	for name := range b.tree() {
		for _, bad := range []string{".git/hooks", ".git/config", ".envrc", "CLAUDE.md", ".claude"} {
			if strings.HasSuffix(name, bad) {
				b.t.Errorf("ESCAPED: %s is in the workspace", name)
			}
		}
	}
}

// TestEscape tries every way out the report speaks of, and no other, in a real sandbox.
func TestEscape(t *testing.T) {
	spec.Covers(t, "EC-2.2")
	spec.Covers(t, "EC-T2.2")
	spec.Covers(t, "EC-3.1", "EC-T3.1") // with the caps of the store, which cmd/interlock tries: testdata/caps.txtar
	spec.Covers(t, "EC-I-3")            // unnamedHost tries what no tool needs
	spec.Covers(t, "ASA-11.1-2")
	t.Setenv("SECRET_OF_OURS", "1")
	known := map[string]bool{}
	for _, wall := range sandbox.WallList() {
		known[wall.Attack] = true
		try := attempts[wall.Attack]
		if try == nil {
			t.Errorf("the report speaks of %q, which nothing tries", wall.Attack)
			continue
		}
		t.Run(wall.Attack, func(t *testing.T) {
			b := newBox(t)
			try(t, b)
			if left, err := os.ReadDir(filepath.Join(b.spec.State, "runs")); err != nil || len(left) > 0 {
				t.Errorf("left behind in the registry: %v, %v", left, err)
			}
		})
	}
	for name := range attempts {
		if !known[name] {
			t.Errorf("%q is tried, and the report does not speak of it", name)
		}
	}
}

// processes returns the numbers of the processes whose command line holds a text.
func processes(t testing.TB, text string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, line := range lines {
		words, err := os.ReadFile(line)
		if err == nil && bytes.Contains(words, []byte(text)) && !bytes.HasPrefix(words, []byte("bwrap")) && !bytes.Contains(words, []byte("/bwrap\x00")) {
			found = append(found, line)
		}
	}
	return found
}

// usage is what the files of a directory take, in bytes.
func usage(t testing.TB, dir string) int64 {
	t.Helper()
	total := int64(0)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// swapWhileBuilding has one sandbox swap a directory for a link to elsewhere, again and again, while others are built in
// the same workspace.
func swapWhileBuilding(t *testing.T, b *box) {
	path := secret(t, filepath.Dir(b.workspace))
	b.put(map[string]string{"dir/CLAUDE.md": "good\n", "dir/secret": "good\n"})
	swapper := newBox(t)
	swapper.spec.Workspace, swapper.spec.Dir, swapper.spec.State = b.workspace, b.workspace, b.spec.State
	swapper.spec.Argv = []string{"sh", "-c",
		fmt.Sprintf("touch swapping; while [ ! -e stop ]; do mv dir kept && ln -s %s dir && rm dir && mv kept dir; done; rm stop swapping", filepath.Dir(path))}
	var ended sync.WaitGroup
	ended.Go(func() {
		if _, err := sandbox.Run(context.Background(), swapper.spec); err != nil {
			t.Error(err)
		}
	})
	wait.Until(t, "the directory is swapped", func() bool { return exists(filepath.Join(b.workspace, "swapping")) })
	for _, dir := range []string{b.workspace, filepath.Join(b.workspace, "dir")} {
		next := newBox(t)
		next.spec.Workspace, next.spec.Dir, next.spec.State, next.spec.Argv = dir, dir, b.spec.State, []string{"cat", "secret"}
		next.spec.Limits.Time = 200 * time.Millisecond
		_, err := sandbox.Run(context.Background(), next.spec)
		var refusal *interlock.Error
		if !errors.As(err, &refusal) || refusal.Code != interlock.CodeLimited && refusal.Code != interlock.CodeInvalid {
			t.Errorf("ESCAPED: a second sandbox ran in %s: %v, %s", dir, err, next.out.String())
		}
	}
	if err := os.WriteFile(filepath.Join(b.workspace, "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ended.Wait()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// outliveKill kills the process that runs the sandbox, and looks whether anything of the sandbox is left; then whether the
// next run clears up what a killed process can't.
func outliveKill(t *testing.T, b *box) {
	name := "outlives-" + filepath.Base(filepath.Dir(b.workspace))
	runner := exec.Command(self(t), "run-and-be-killed", b.workspace, b.spec.State,
		"touch ready; for i in 1 2 3; do setsid sh -c 'while :; do sleep 60; done' "+name+" & done; exec sh -c 'while :; do sleep 60; done' "+name)
	runner.Stderr = os.Stderr
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "four processes run", func() bool {
		return exists(filepath.Join(b.workspace, "ready")) && len(processes(t, name)) >= 4
	})
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
	if !wait.Holds(func() bool { return len(processes(t, name)) == 0 }) {
		t.Fatalf("ESCAPED: %v go on", processes(t, name))
	}
	left, err := os.ReadDir(filepath.Join(b.spec.State, "runs"))
	if err != nil || len(left) != 1 {
		t.Fatalf("a killed run should leave its entry: %v, %v", left, err)
	}
	record, err := os.ReadFile(filepath.Join(b.spec.State, "runs", left[0].Name(), "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if r := b.sh("true"); r.Exit != 0 {
		t.Errorf("the next run: %+v", r)
	}
	for _, word := range strings.Split(string(record), `"`) {
		if strings.HasPrefix(word, "/sys/") && exists(word) {
			t.Errorf("ESCAPED: %s is still there", word)
		}
	}
}

// networked gives a box a network in which every name has one address and every connection ends at a server of the test.
func networked(t *testing.T, b *box, address string) (asked *[]string) {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("the server's words\n"))
			conn.Close()
		}
	}()
	asked = new([]string)
	var mu sync.Mutex
	b.spec.Self = self(t)
	b.spec.Network = &sandbox.Network{
		Decide: func(_ context.Context, host string, port int) error {
			mu.Lock()
			defer mu.Unlock()
			*asked = append(*asked, fmt.Sprintf("%s:%d", host, port))
			if host != "named.example" {
				return interlock.Errorf(interlock.CodeUnauthorized, "", "%s is not among the hosts of this run", host)
			}
			return nil
		},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr(address)}, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, "93.184.215.14:") {
				t.Errorf("ESCAPED: %s was dialled", address)
			}
			return (&net.Dialer{}).DialContext(ctx, network, server.Addr().String())
		},
	}
	return asked
}

// connectTo asks the proxy for a host, from inside.
const connectTo = `
import os, socket, sys
host, port = os.environ["HTTPS_PROXY"].rsplit("/", 1)[1].split(":")
s = socket.create_connection((host, int(port)), 5)
s.sendall(("CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n" % sys.argv[1]).encode())
answer = b""
while True:
    part = s.recv(4096)
    if not part: break
    answer += part
print(answer.decode())
`

func privateByName(t *testing.T, b *box) {
	for _, address := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "100.64.0.1", "168.63.129.16",
		"::1", "fd00:ec2::254", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "0.0.0.0", "2002:7f00:1::"} {
		networked(t, b, address)
		r := b.run("python3", "-c", connectTo, "named.example:443")
		if !strings.Contains(b.out.String(), "403 Forbidden") || strings.Contains(b.out.String(), "server's words") {
			t.Errorf("ESCAPED to %s: %s%s", address, b.out.String(), b.err.String())
		}
		if !slices.Equal(r.Refused, []string{"named.example:443"}) {
			t.Errorf("recorded %q", r.Refused)
		}
	}
}

func unnamedHost(t *testing.T, b *box) {
	asked := networked(t, b, "93.184.215.14")
	b.run("python3", "-c", connectTo, "named.example:443")
	if !strings.Contains(b.out.String(), "the server's words") {
		t.Fatalf("a named host is not reached: %s%s", b.out.String(), b.err.String())
	}
	for _, target := range []string{"other.example:443", "127.0.0.1:80", "2130706433:80", "0x7f000001:80", "[::1]:80",
		"named.example.:443x", "localhost:80", "named.example@other.example:443"} {
		b.run("python3", "-c", connectTo, target)
		if strings.Contains(b.out.String(), " 200 ") {
			t.Errorf("ESCAPED to %s: %s", target, b.out.String())
		}
	}
	if want := []string{"named.example:443", "other.example:443", "localhost:80"}; !slices.Equal(*asked, want) {
		t.Errorf("decided %q, want %q", *asked, want)
	}
	b.tries("connect", "tcp", "93.184.215.14:443")
}
