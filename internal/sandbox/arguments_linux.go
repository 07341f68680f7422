package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// systemPath is where commands are looked for inside, whatever this process's own PATH is.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// searchPath are the directories of PATH inside: the profile's, those of this process's that are there inside too, and the
// system's.
func searchPath(s Spec, own string) []string {
	var dirs []string
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range s.Path {
		add(dir)
	}
	for _, dir := range strings.Split(own, ":") {
		if filepath.IsAbs(dir) && filepath.Clean(dir) == dir && (inside("/usr", dir) || insideAny(s.Read, dir)) {
			add(dir)
		}
	}
	for _, dir := range strings.Split(systemPath, ":") {
		add(dir)
	}
	return dirs
}

// etc are the files of /etc that programs can't do without and that hold nothing of this host's own. Each costs a mount.
var etc = []string{"ld.so.cache", "alternatives", "ssl/certs", "ssl/openssl.cnf", "ca-certificates",
	"pki/tls/certs", "pki/ca-trust",
	"localtime", "os-release", "services", "mime.types", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk"}

// Files of /proc that tell of the whole host: to everybody, and to the host's root, who needs no privilege to read his files.
var (
	tellsAll  = []string{"cmdline", "kallsyms", "keys"}
	tellsRoot = []string{"kcore", "kmsg", "pagetypeinfo", "sched_debug", "slabinfo", "timer_list", "vmallocinfo"}
)

// A handover is a file descriptor that bubblewrap reads what it needs from.
type handover struct{ files []*os.File }

// add gives a file the next number in the child, where the first behind the standard ones is 3.
func (h *handover) add(file *os.File) string {
	h.files = append(h.files, file)
	return strconv.Itoa(2 + len(h.files))
}

// data hands a short text over in a pipe.
func (h *handover) data(text []byte) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil { // it fits into a pipe's buffer
		return "", err
	}
	return h.add(r), w.Close()
}

// socket hands one end of a way for handing over, and returns the other.
func (h *handover) socket() (ours *os.File, fd string, err error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, "", err
	}
	return ours, h.add(theirs), nil
}

func (h *handover) close() {
	for _, file := range h.files {
		file.Close()
	}
	h.files = nil
}

// arguments is bubblewrap's command line up to the command. What is not named is not there: no home, no /run, no /sys, no
// /var, nobody's sockets. source is where the workspace's files are taken from.
func arguments(s Spec, h *handover, source string, startups []startup) ([]string, error) {
	args := []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try",
		"--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL", "--new-session", "--die-with-parent"}
	args = append(args, "--ro-bind", "/usr", "/usr")
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(name); err == nil {
			args = append(args, "--symlink", target, name)
		} else if _, err := os.Stat(name); err == nil {
			args = append(args, "--ro-bind", name, name)
		}
	}
	for _, name := range etc {
		path := "/etc/" + name
		if target, err := os.Readlink(path); err == nil && insideAny([]string{"/usr"}, filepath.Join("/etc", target)) {
			args = append(args, "--symlink", filepath.Join("/etc", target), path)
		} else if exists(path) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	for _, file := range [][2]string{{"/etc/passwd", "agent:x:1000:1000::/tmp:/bin/sh\n"}, {"/etc/group", "agent:x:1000:\n"},
		{"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"}} {
		fd, err := h.data([]byte(file[1]))
		if err != nil {
			return nil, err
		}
		args = append(args, "--file", fd, file[0])
	}
	args = append(args, "--proc", "/proc")
	masked := tellsAll
	if os.Geteuid() == 0 {
		masked = append(masked[:len(masked):len(masked)], tellsRoot...)
	}
	for _, name := range masked {
		if path := "/proc/" + name; exists(path) {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	// Root's files under /proc are writable for root, privileged or not: settings of the kernel are among them.
	args = append(args, "--remount-ro", "/proc")
	size := strconv.FormatInt(s.Limits.Disk, 10)
	args = append(args, "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--perms",
		"1777", "--tmpfs", "/tmp",
		"--dir", "/var", "--symlink", "/tmp", "/var/tmp")
	for _, path := range s.Read {
		args = append(args, "--ro-bind-try", path, path)
	}
	if s.Network != nil {
		args = append(args, "--ro-bind", s.Self, bridgeProgram)
	}
	return withWorkspace(args, s, source, startups), nil
}

// withWorkspace adds what is writable, what of it is not, and what is hidden. The names can be trusted: the registry keeps
// every other sandbox out that could put a link in their place meanwhile.
func withWorkspace(args []string, s Spec, source string, startups []startup) []string {
	args = append(args, "--bind", source, s.Workspace)
	for _, found := range startups {
		if !isLink(found.info) { // what a link leads to is not ours to show; one that is replaced is set aside
			path := filepath.Join(s.Workspace, found.path)
			args = append(args, "--ro-bind", path, path)
		}
	}
	for _, path := range s.Hide {
		if !inside(s.Workspace, path) && !insideAny(s.Read, path) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			args = append(args, "--size", "4096", "--tmpfs", path, "--remount-ro", path)
		default:
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	return append(args, "--remount-ro", "/", "--chdir", s.Dir)
}

func insideAny(dirs []string, path string) bool {
	for _, dir := range dirs {
		if dir == path || inside(dir, path) {
			return true
		}
	}
	return false
}

// environment is all the command sees of one: nothing of this process's but what its language and terminal are.
func environment(s Spec, getenv func(string) string) []string {
	path := strings.Join(searchPath(s, getenv("PATH")), ":")
	env := []string{"PATH=" + path, "HOME=/tmp", "TMPDIR=/tmp", "USER=agent", "LOGNAME=agent", "SHELL=/bin/sh",
		"INTERLOCK_SANDBOX=1"}
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "NO_COLOR", "COLUMNS", "LINES", "CI"} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, s.Env...)
}

// find looks a command up as it will be looked up inside, so that what is missing is said plainly.
func find(s Spec) error {
	name := s.Argv[0]
	if strings.ContainsRune(name, '/') {
		return nil // told by the system inside: it may be made by the time
	}
	for _, dir := range searchPath(s, os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return nil
		}
	}
	return fmt.Errorf("%.80q is not found in the sandbox", name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
