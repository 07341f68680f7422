package upstream

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A process is a program that was started, with pipes to it. It ends with everything it started itself.
type process struct {
	stdin  *os.File
	stdout *os.File
	group  group         // it and what it started
	done   chan struct{} // closed when it has exited
	state  *os.ProcessState
}

// orphans is how long pipes may stay open in the hands of others when a program has exited.
const orphans = time.Second

// startProcess starts a program. Its error output goes to complaints.
func startProcess(path string, args, env []string, dir string, complaints io.Writer) (*process, error) {
	stdin, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		ours.Close()
		return nil, err
	}
	command := &exec.Cmd{Path: path, Args: append([]string{path}, args...), Env: env, Dir: dir, Stdin: stdin, Stdout: stdout,
		Stderr: complaints, WaitDelay: orphans,
		SysProcAttr: attributes()}
	p := &process{stdin: ours, stdout: theirs, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// On Linux a program is killed when the thread that started it ends, so that thread stays until the program has.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		if err == nil {
			p.group, err = groupOf(command.Process)
			if err != nil {
				_ = command.Process.Kill()
				_ = command.Wait()
			}
		}
		stdin.Close()
		stdout.Close()
		started <- err
		if err != nil {
			return
		}
		_ = command.Wait() // what it says is in the state
		p.group.kill()     // what it left behind
		p.state = command.ProcessState
		close(p.done)
	}()
	if err := <-started; err != nil {
		ours.Close()
		theirs.Close()
		return nil, err
	}
	return p, nil
}

// end waits for the program to exit: after the end of its input, after a signal, and after being killed.
func (p *process) end(patience time.Duration) {
	_ = p.stdin.Close()
	for _, harder := range []func(){func() {}, p.group.terminate, p.group.kill} {
		harder()
		timer := time.NewTimer(patience)
		select {
		case <-p.done:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// said is how the program ended, once done is closed.
func (p *process) said() string {
	if p.state == nil {
		return "ended"
	}
	if p.state.Exited() {
		return fmt.Sprintf("exited with status %d", p.state.ExitCode())
	}
	return "was ended by " + p.state.String()
}

// findProgram returns the path of a program: as it is if it has a directory, else from the first directory of path that has it.
func findProgram(command, dir string, path []string, extensions []string) (string, error) {
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		if !filepath.IsAbs(command) && dir != "" {
			command = filepath.Join(dir, command)
		}
		return firstProgram([]string{command}, extensions)
	}
	var candidates []string
	for _, place := range path {
		candidates = append(candidates, filepath.Join(place, command))
	}
	return firstProgram(candidates, extensions)
}

func firstProgram(candidates, extensions []string) (string, error) {
	denied := false
	for _, candidate := range candidates {
		for _, extension := range extensions {
			info, err := os.Stat(candidate + extension)
			switch {
			case err != nil || info.IsDir():
			case runnable(info.Mode()):
				return candidate + extension, nil
			default:
				denied = true
			}
		}
	}
	if denied {
		return "", fs.ErrPermission
	}
	return "", fs.ErrNotExist
}
