package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// By what a limit is held.
const (
	byCgroup2 = "cgroup v2"
	byCgroup1 = "cgroup v1"
	byRlimit  = "rlimit"
)

// A cgroup is the pair of limits that only the kernel can hold for all processes of a run together. It is one directory on
// version 2 and one for each of memory and pids on version 1.
type cgroup struct {
	memory, pids string // directories; empty where this host lets us make none
	unified      bool
}

// newCgroup makes a run's groups, as far as this host lets us. It never fails: what it can't make, the walls say.
func newCgroup(name string, l Limits) (cgroup, Walls) {
	walls := Walls{Memory: byRlimit, Processes: byRlimit}
	if dir := unifiedGroup(name, l); dir != "" {
		return cgroup{memory: dir, pids: dir, unified: true}, Walls{Memory: byCgroup2, Processes: byCgroup2}
	}
	var g cgroup
	if dir := legacyGroup("memory", name, map[string]int64{"memory.limit_in_bytes": l.Memory}); dir != "" {
		g.memory, walls.Memory = dir, byCgroup1
		_ = write(filepath.Join(dir, "memory.memsw.limit_in_bytes"), l.Memory) // where swap is accounted for
	}
	if dir := legacyGroup("pids", name, map[string]int64{"pids.max": int64(l.Processes) + 1}); dir != "" {
		g.pids, walls.Processes = dir, byCgroup1
	}
	return g, walls
}

// unifiedGroup makes a group beside our own one, because a group with processes of its own can't give controllers to
// groups within it.
func unifiedGroup(name string, l Limits) string {
	mount, own := groupOf("")
	if mount == "" {
		return ""
	}
	for _, parent := range []string{filepath.Dir(filepath.Join(mount, own)), filepath.Join(mount, own)} {
		if !strings.HasPrefix(parent, mount) {
			continue
		}
		enabled, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		if err != nil || !hasWord(string(enabled), "memory") || !hasWord(string(enabled), "pids") {
			continue
		}
		dir := filepath.Join(parent, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if write(filepath.Join(dir, "memory.max"), l.Memory) == nil &&
			write(filepath.Join(dir, "pids.max"), int64(l.Processes)+1) == nil {
			_ = write(filepath.Join(dir, "memory.swap.max"), 0)
			_ = write(filepath.Join(dir, "memory.oom.group"), 1)
			return dir
		}
		_ = os.Remove(dir)
	}
	return ""
}

// legacyGroup makes a group below our own one in one hierarchy of version 1.
func legacyGroup(controller, name string, values map[string]int64) string {
	mount, own := groupOf(controller)
	if mount == "" {
		return ""
	}
	dir := filepath.Join(mount, own, name)
	if os.Mkdir(dir, 0o755) != nil {
		return ""
	}
	for file, value := range values {
		if write(filepath.Join(dir, file), value) != nil {
			_ = os.Remove(dir)
			return ""
		}
	}
	return dir
}

// groupOf returns where a controller's hierarchy is mounted and which group of it this process is in; the empty controller
// is version 2.
func groupOf(controller string) (mount, own string) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", ""
	}
	for _, line := range strings.Split(string(mounts), "\n") {
		before, after, ok := strings.Cut(line, " - ")
		words, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(words) < 5 || len(kind) < 3 || words[3] != "/" {
			continue
		}
		if controller == "" && kind[0] == "cgroup2" || controller != "" && kind[0] == "cgroup" && hasOption(kind[2], controller) {
			mount = words[4]
			break
		}
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil || mount == "" {
		return "", ""
	}
	for _, line := range strings.Split(string(groups), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) == 3 && (controller == "" && parts[0] == "0" || controller != "" && hasOption(parts[1], controller)) {
			return mount, parts[2]
		}
	}
	return "", ""
}

func hasOption(list, word string) bool {
	return strings.Contains(","+list+",", ","+word+",")
}

func hasWord(list, word string) bool {
	return strings.Contains(" "+strings.TrimSpace(list)+" ", " "+word+" ")
}

func write(file string, value int64) error {
	return os.WriteFile(file, strconv.AppendInt(nil, value, 10), 0)
}

// dirs are the directories to remove afterwards.
func (g cgroup) dirs() []string {
	var out []string
	if g.memory != "" {
		out = append(out, g.memory)
	}
	if g.pids != "" && g.pids != g.memory {
		out = append(out, g.pids)
	}
	return out
}

// add moves a process into the groups.
func (g cgroup) add(pid int) error {
	for _, dir := range g.dirs() {
		if err := write(filepath.Join(dir, "cgroup.procs"), int64(pid)); err != nil {
			return err
		}
	}
	return nil
}

// outOfMemory reports whether the kernel killed something in the group for its memory.
func (g cgroup) outOfMemory() bool {
	file := "memory.oom_control"
	if g.unified {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.memory, file))
	return g.memory != "" && err == nil && field(string(text), "oom_kill ") > 0
}

// outOfProcesses reports whether a process could not be made because there were too many.
func (g cgroup) outOfProcesses() bool {
	text, err := os.ReadFile(filepath.Join(g.pids, "pids.events"))
	return g.pids != "" && err == nil && field(string(text), "max ") > 0
}

// removeGroups kills what is left in the groups and removes them. The kernel lets go of a group some moments after its last
// process is gone.
func removeGroups(dirs []string) error {
	var failed error
	for _, dir := range dirs {
		failed = errors.Join(failed, removeGroup(dir))
	}
	return failed
}

func removeGroup(dir string) error {
	const patience = 2 * time.Second
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if time.Since(begin) > patience {
			return err
		}
		_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) // version 2 has it
		left, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, word := range strings.Fields(string(left)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
