package sandbox

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"

	"interlock"
)

// Limits bound one run. Every field must be positive.
type Limits struct {
	Time      time.Duration // by the clock on the wall; the processor time of each process is bound to the same
	Memory    int64         // bytes, of all processes together where the host has cgroups, else of each
	Disk      int64         // bytes: of what is written to disk, of the throw-away copy's changes, and of /tmp
	Processes int           // processes and threads at once
	Files     int           // open files of each process
	Output    int64         // bytes of standard output and error together
}

// A Spec is one run. Paths are absolute and clean.
type Spec struct {
	Argv      []string // the command and its arguments
	Workspace string   // what the command may write: a directory that is neither the root, a home nor a part of the system
	Dir       string   // working directory, in the workspace
	Overlay   bool     // writes go to a copy that is thrown away
	Limits    Limits
	Network   *Network // nil: none
	Read      []string // further paths that are readable inside
	Hide      []string // paths that are empty inside, wherever they lie
	Path      []string // further directories of the command's PATH
	Env       []string // NAME=value, on top of the few variables every run has
	Startup   []string // patterns of files that are run or obeyed later; see [Startup]
	Sockets   bool     // the command may make unix sockets; without, it can't reach one that lies in the workspace either
	Keep      bool     // with Overlay: carry what was written over into the workspace if the command succeeded

	Stdin          io.Reader
	Stdout, Stderr io.Writer

	State string // directory for what must be found again if this process is killed; made for its owner alone
	Self  string // this program, which calls [Stage] first thing; needed with Overlay or Network
}

// A Network is what a run may reach: named hosts, over TLS tunnels through a proxy in this process.
type Network struct {
	// Decide is asked once for each connection to host:port. An error refuses it; its text is shown to the command.
	Decide func(ctx context.Context, host string, port int) error
	// Lookup resolves a name; nil is the system's resolver. Connections go to the addresses it gave and to no others.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address; nil is a plain TCP connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Result is what became of a run.
type Result struct {
	ID       string
	Exit     int                // of the command: its status, or 128 and the signal that ended it
	Stopped  string             // which limit ended it: time, output, disk, memory; empty: none did
	Duration time.Duration      // from the first step of setting up to the last of tearing down
	Setup    time.Duration      // how long it took until the command could begin
	Effects  []interlock.Effect // with Overlay, what was written; without, start-up files that were set aside
	Partial  bool               // there was more to look at than is looked at
	Kept     bool               // the effects were carried over into the workspace
	Reached  []string           // limits that were reached and did not end it: processes
	Refused  []string           // hosts that were asked for and refused, each once
	Why      []string           // each of them was, as the command was told
	Walls    Walls
}

// Walls say by what the limits were held in a run, where that depends on the host.
type Walls struct {
	// "cgroup v2", "cgroup v1", or "rlimit" of each process and a look at all of them now and then
	Memory    string `json:"memory"`
	Processes string `json:"processes"` // "cgroup v2", "cgroup v1" or "rlimit"
}
