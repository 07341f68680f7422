package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"interlock"
	"interlock/internal/bubblewrap"
)

// groupPrefix begins the names of the cgroups this package makes; the run's id follows.
const groupPrefix = "interlock-"

// notInstalled is said where there is no bubblewrap that can be trusted.
const notInstalled = "bubblewrap is not installed, or not in a directory of the system that is on PATH; the package is called bubblewrap"

// Run runs one command in a sandbox of its own and returns when nothing is left of it. An error means that the command did
// not run at all, or that something of the run could not be cleared up; how the command itself ended is in the result. It is
// safe for concurrent use.
func Run(ctx context.Context, s Spec) (Result, error) {
	begin := time.Now()
	if err := s.validate(); err != nil {
		return Result{}, err
	}
	bwrap, found := bubblewrap.Find(os.Getenv("PATH"))
	if !found {
		return Result{}, unavailable(notInstalled + "; nothing was run")
	}
	if err := find(s); err != nil {
		return Result{}, &interlock.Error{Code: interlock.CodeNotFound, Message: err.Error()}
	}
	entry, err := register(ctx, s)
	if err != nil {
		return Result{}, err
	}
	group, walls := newCgroup(groupPrefix+entry.id, s.Limits)
	result := Result{ID: entry.id, Walls: walls}
	err = entry.record(runRecord{Workspace: s.Workspace, Writes: !s.Overlay, Groups: group.dirs()})
	if err == nil {
		err = execute(ctx, s, bwrap, entry.dir, group, &result)
	}
	err = errors.Join(err, removeGroups(group.dirs()), entry.end())
	result.Duration = time.Since(begin)
	return result, err
}

func unavailable(format string, args ...any) error {
	return interlock.Errorf(interlock.CodeUnavailable, "", format, args...)
}

// execute does one run between entering the registry and leaving it.
func execute(ctx context.Context, s Spec, bwrap, dir string, group cgroup, result *Result) error {
	var before []startup
	if !s.Overlay {
		before, result.Partial = findStartups(s.Workspace, s.Startup)
		if result.Partial {
			return interlock.Errorf(interlock.CodeLimited, "",
				"the workspace has more than %d entries, or some that can't be read, so its start-up files can't be "+
					"protected; use a throw-away copy with --overlay", maxLooked)
		}
	}
	c := &child{spec: s, dir: dir, group: group, result: result}
	defer c.release()
	if err := c.prepare(bwrap, before); err != nil {
		return err
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	if !s.Overlay {
		effects, partial, err := setAside(s.Workspace, s.Startup, before)
		result.Effects, result.Partial = effects, partial
		return err
	}
	return c.settle()
}

// settle says what was written over the workspace, and carries it over if that is wanted.
func (c *child) settle() error {
	written, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", c.upper.Fd()))
	if err != nil {
		return fmt.Errorf("opening the throw-away copy: %w", err)
	}
	defer written.Close()
	below, err := os.OpenRoot(c.spec.Workspace)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer below.Close()
	d := difference{upper: written, lower: below, patterns: c.spec.Startup}
	c.result.Effects, c.result.Partial, err = d.effects()
	if err != nil || !c.spec.Keep || c.result.Exit != 0 || c.result.Stopped != "" {
		return err
	}
	if c.result.Partial {
		return interlock.Errorf(interlock.CodeLimited, "--keep", "more was written than can be looked at, so nothing was kept")
	}
	c.result.Kept = true
	return d.keep(c.result.Effects)
}

// pipeDelay bounds how long whatever outlives bubblewrap can hold our pipes: nothing should.
const pipeDelay = 10 * time.Second

// A child is the bubblewrap process of a run and what it was started with.
type child struct {
	spec   Spec
	dir    string // of the run, in the registry
	group  cgroup
	result *Result

	command     *exec.Cmd
	hands       handover
	info, block *os.File // what it tells of itself; the byte that lets it go on
	unread      *os.File // the other end of block: the byte stays there until the walls are up
	out         *outlet
	pipes       []*os.File
	layer, door *os.File // over which the helpers hand something over
	upper       *os.File // what was written over the workspace
	proxy       *proxy
	first       *os.File // the sandbox's first process, held by name so that its number can't come to mean another
}

// prepare makes everything that is handed over to bubblewrap.
func (c *child) prepare(bwrap string, before []startup) error {
	layers := layering{Dir: c.dir, Workspace: c.spec.Workspace, Size: c.spec.Limits.Disk, User: os.Geteuid() != 0}
	source := c.spec.Workspace
	if c.spec.Overlay {
		source = layers.merged()
	}
	args, err := arguments(c.spec, &c.hands, source, before)
	if err != nil {
		return err
	}
	program, err := filterFor(runtime.GOARCH, c.spec.Sockets)
	if err != nil {
		return unavailable("%v; nothing was run", err)
	}
	fd, err := c.hands.data(program)
	if err != nil {
		return err
	}
	args = append(args, "--seccomp", fd)
	if args, err = c.signals(args); err != nil {
		return err
	}
	command := c.spec.Argv
	if c.spec.Network != nil {
		if c.door, fd, err = c.hands.socket(); err != nil {
			return err
		}
		command = append([]string{bridgeProgram, stageWord, "bridge", fd}, command...)
	}
	argv := append(append(append([]string{bwrap}, args...), "--"), command...)
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if c.spec.Overlay {
		if argv, err = c.layered(argv, layers, attributes); err != nil {
			return err
		}
	}
	c.command = &exec.Cmd{Path: argv[0], Args: argv, Env: environment(c.spec, os.Getenv), Dir: "/", ExtraFiles: c.hands.files,
		SysProcAttr: attributes,
		WaitDelay:   pipeDelay}
	return c.connect()
}

// signals adds how the child tells its number, and how it is told to go on.
func (c *child) signals(args []string) ([]string, error) {
	var infoEnd, blockEnd *os.File
	var err error
	if c.info, infoEnd, err = os.Pipe(); err != nil {
		return nil, err
	}
	args = append(args, "--info-fd", c.hands.add(infoEnd))
	if blockEnd, c.block, err = os.Pipe(); err != nil {
		return nil, err
	}
	args = append(args, "--block-fd", c.hands.add(blockEnd))
	c.unread, err = duplicate(blockEnd)
	return args, err
}

// layered has a helper mount the throw-away copy before it becomes bubblewrap.
func (c *child) layered(argv []string, layers layering, attributes *syscall.SysProcAttr) ([]string, error) {
	attributes.Cloneflags = syscall.CLONE_NEWNS
	if layers.User {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	told, err := json.Marshal(layers)
	if err != nil {
		return nil, err
	}
	var fd string
	if c.layer, fd, err = c.hands.socket(); err != nil {
		return nil, err
	}
	return append([]string{c.spec.Self, stageWord, "layer", fd, string(told)}, argv...), nil
}

// connect gives the command pipes and never a file of ours: a terminal could be typed into, and a regular file be read
// back or written at another place.
func (c *child) connect() error {
	c.out = &outlet{left: c.spec.Limits.Output, full: make(chan struct{})}
	if c.spec.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		c.command.Stdin, c.pipes = r, append(c.pipes, r)
		go func() { // ends with the run: the pipe breaks
			_, _ = io.Copy(w, c.spec.Stdin)
			w.Close()
		}()
	}
	c.command.Stdout, c.command.Stderr = c.out.to(c.spec.Stdout), c.out.to(c.spec.Stderr)
	return nil
}

func (c *child) release() {
	c.hands.close()
	if c.proxy != nil {
		c.proxy.close()
	}
	for _, file := range append(c.pipes, c.info, c.block, c.unread, c.layer, c.door, c.upper, c.first) {
		if file != nil {
			file.Close()
		}
	}
}

// run starts the child, sets its limits while it waits, lets it go and sees it out.
func (c *child) run(ctx context.Context) error {
	// The kernel ends the child with the thread that made it, so that thread must be there as long as we are.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	complaint := &head{}
	c.command.Stderr = io.MultiWriter(complaint, c.command.Stderr)
	keepOurs()
	if err := c.command.Start(); err != nil {
		return unavailable("the sandbox could not be started: %v; nothing was run", err)
	}
	c.hands.close()
	pid, err := c.admit()
	if err != nil {
		c.abandon()
		return errors.Join(unavailable("the sandbox could not be set up: %s; nothing was run", complaint.line(err)), c.emptied())
	}
	c.result.Setup = time.Since(begin)
	if c.spec.Network != nil {
		c.proxy = serve(ctx, c.door, *c.spec.Network)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.command.Wait() }()
	waited := c.watch(ctx, pid, ended)
	if err := c.emptied(); err != nil {
		return err
	}
	if c.blocked() {
		c.result.Setup = 0
		return unavailable("the sandbox could not be set up: %s; nothing was run", complaint.line(waited))
	}
	if c.proxy != nil {
		c.result.Refused, c.result.Why = c.proxy.close()
	}
	return c.verdict(waited)
}

// abandon ends a child that was not let go. Whether its own child goes with it is not sure that early; left behind,
// that one would hold our pipes for ever. Stopped, the child makes no more of them, and none of their numbers comes
// to mean another.
func (c *child) abandon() {
	_ = c.command.Process.Signal(syscall.SIGSTOP)
	for _, pid := range family(c.command.Process.Pid)[1:] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// admit waits until the child's walls are being built, sets its limits and lets it go on. It returns the number of the
// sandbox's first process.
func (c *child) admit() (int, error) {
	if c.layer != nil {
		upper, err := handed(c.layer)
		if err != nil {
			return 0, err
		}
		c.upper = upper
	}
	var told struct {
		Pid int `json:"child-pid"`
	}
	if err := json.NewDecoder(io.LimitReader(c.info, 4096)).Decode(&told); err != nil {
		return 0, err
	}
	first, err := openProcess(told.Pid, c.command.Process.Pid)
	if err != nil {
		return 0, err
	}
	c.first = first
	if err := c.group.add(told.Pid); err != nil {
		return 0, err
	}
	if err := setLimits(told.Pid, c.spec.Limits, c.result.Walls); err != nil {
		return 0, err
	}
	_, err = c.block.Write([]byte{1})
	return told.Pid, err
}

// watch waits for the end and brings it about when a limit is reached.
func (c *child) watch(ctx context.Context, pid int, ended <-chan error) error {
	deadline := time.NewTimer(c.spec.Limits.Time)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	stop := func(why string) {
		if c.result.Stopped == "" {
			c.result.Stopped = why
			_ = c.command.Process.Kill() // its child, the sandbox's first process, goes with it, and everything with that
		}
	}
	full := c.out.full
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			stop("cancelled")
			ctx = context.Background()
		case <-deadline.C:
			stop("time")
		case <-full:
			full = nil
			stop("output")
		case <-look.C:
			pids := family(pid)
			if written(pids) > c.spec.Limits.Disk {
				stop("disk")
			}
			if c.result.Walls.Memory == byRlimit && resident(pids) > c.spec.Limits.Memory {
				stop("memory")
			}
		}
	}
}

// emptied ends the sandbox's first process, with which everything in it ends, and waits until nothing is left: bubblewrap
// tells how the command ended a moment before.
func (c *child) emptied() error {
	if c.first == nil {
		return nil
	}
	if err := endProcess(c.first); err != nil {
		return fmt.Errorf("ending what is left in the sandbox: %w", err)
	}
	return nil
}

// blocked reports whether the child ended without having read the byte that let it go on.
func (c *child) blocked() bool {
	_ = c.block.Close()
	_ = syscall.SetNonblock(int(c.unread.Fd()), true)
	var one [1]byte
	n, err := syscall.Read(int(c.unread.Fd()), one[:])
	return err == nil && n == 1
}

// verdict says how the command ended.
func (c *child) verdict(waited error) error {
	state := c.command.ProcessState
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return fmt.Errorf("waiting for the sandbox: %w", waited)
	case status.Exited():
		c.result.Exit = status.ExitStatus()
	default:
		c.result.Exit = 128 + int(status.Signal())
	}
	if c.group.outOfMemory() && c.result.Stopped == "" {
		c.result.Stopped = "memory"
	}
	// The signal that ends who writes to a file larger than the limit. That a command may end with that number by
	// itself is accepted.
	if c.result.Exit == 128+int(syscall.SIGXFSZ) && c.result.Stopped == "" {
		c.result.Stopped = "disk"
	}
	if c.group.outOfProcesses() {
		c.result.Reached = append(c.result.Reached, "processes")
	}
	return nil
}

// validate refuses what no sandbox can be built for.
func (s Spec) validate() error {
	l := s.Limits
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return interlock.Errorf(interlock.CodeInvalid, "CMD", "is missing; name the command to run")
	case l.Time <= 0 || l.Memory <= 0 || l.Disk <= 0 || l.Processes <= 0 || l.Files <= 0 || l.Output <= 0:
		return interlock.Errorf(interlock.CodeInvalid, "sandbox", "every limit must be positive")
	case s.State == "":
		return interlock.Errorf(interlock.CodeInvalid, "State", "is missing")
	case s.Self == "" && (s.Overlay || s.Network != nil):
		return interlock.Errorf(interlock.CodeInvalid, "Self", "is missing; an overlay and a network need a helper process")
	}
	for _, path := range append([]string{s.Workspace, s.Dir, s.State}, s.Read...) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return interlock.Errorf(interlock.CodeInvalid, "sandbox", "%.80q is not an absolute, clean path", path)
		}
	}
	if s.Dir != s.Workspace && !inside(s.Workspace, s.Dir) {
		return interlock.Errorf(interlock.CodeInvalid, "--dir", "must lie in the workspace")
	}
	return checkWorkspace(s.Workspace)
}

// checkWorkspace refuses directories that must not be writable in any sandbox, whatever link leads to them.
func checkWorkspace(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "--dir", "the workspace can't be opened")
	}
	home, _ := os.UserHomeDir()
	if home != "" {
		if resolved, err := filepath.EvalSymlinks(home); err == nil {
			home = resolved
		}
	}
	if real == "/" || home != "" && (real == home || inside(real, home)) {
		return interlock.Errorf(interlock.CodeInvalid, "--dir",
			"the file system's root, a home directory or what lies above it is no workspace; go into a project's directory")
	}
	for _, system := range []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
		"/home", "/tmp", "/var"} {
		below := system != "/home" && system != "/tmp" && system != "/var" && inside(system, real) && !inside("/usr/src", real) &&
			!inside("/usr/local/src", real)
		if real == system || below {
			return interlock.Errorf(interlock.CodeInvalid, "--dir",
				"a directory of the system is no workspace; go into a project's directory")
		}
	}
	if real != path {
		return interlock.Errorf(interlock.CodeInvalid, "--dir", "the way to the workspace leads over a link; name %.200s", real)
	}
	return nil
}
