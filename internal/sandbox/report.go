package sandbox

// Features are what this host gives, as found by trying.
type Features struct {
	System     string `json:"system"`
	Works      bool   `json:"works"`
	Missing    string `json:"missing,omitempty"` // why no sandbox works
	Bubblewrap string `json:"bubblewrap,omitempty"`
	Walls      Walls  `json:"limits"`
	NoOverlay  string `json:"no_overlay,omitempty"` // why there are no throw-away copies
	NoNetwork  string `json:"no_network,omitempty"` // why no host can be reached through the proxy
	Landlock   int    `json:"landlock_abi"`         // for the record: no wall needs it
}

// A Wall is one way out that the escape suite tries, by what it is stopped, and what becomes of it on a kernel that has not
// got this.
type Wall struct {
	Attack  string `json:"attack"`
	By      string `json:"stopped_by"`
	Without string `json:"without"`
}

// refused is what happens without a wall that every run needs.
const refused = "nothing runs"

// WallList returns every way out that is tried, in the order of the report. The escape suite has an attempt for each and
// for nothing else.
func WallList() []Wall {
	const mounts, filter, pids, network = "mount namespace: it is not there", "seccomp filter", "pid namespace",
		"network namespace"
	return []Wall{
		{"read the host's files", mounts, refused},
		{"read another agent's workspace and Interlock's own directory", mounts, refused},
		{"write to the system", "mount namespace: it is read-only", refused},
		{"read the host through /proc", "pid namespace, private /proc", refused},
		{"write the kernel's settings through /proc", "mount namespace: /proc/sys and its like are read-only", refused},
		{"find /sys, disks or memory under /dev", mounts, refused},
		{"follow a link in the workspace out of it", mounts, refused},
		{"have a planted link mounted in the next run", "links are never mounted", refused},
		{"swap a directory for a link while another sandbox is built", "one sandbox writes to a workspace at a time", refused},
		{"use a file descriptor that was left open", "closed before the command begins", refused},
		{"trace or read another process", filter, refused},
		{"signal a process outside", pids, refused},
		{"leave a process behind", "pid namespace: it ends with its first process", refused},
		{"outlive Interlock when it is killed", "parent death signal, pid namespace", refused},
		{"reach the host's servers", network, refused},
		{"reach the metadata service of a cloud", network, refused},
		{"reach a unix socket by path or by abstract name", "seccomp filter: no unix sockets", refused},
		{"leave a virtual machine by vsock", filter, refused},
		{"reach a private address by a public name", "proxy: it resolves names itself and looks at the addresses", refused},
		{"reach a host that is not named", "network namespace, proxy", refused},
		{"type into the terminal", "a session of its own, seccomp filter", refused},
		{"make a user namespace and be root in it", filter, refused},
		{"mount something", "seccomp filter, no capabilities", refused},
		{"load code into the kernel", "seccomp filter, no capabilities", refused},
		{"use another calling convention or a newer system call", filter, refused},
		{"gain privileges by a setuid program", "no new privileges, nosuid mounts", refused},
		{"fork without end", "pids cgroup; else rlimit", "as root without cgroups: only the time limit ends it"},
		{"take all memory", "memory cgroup; else rlimit and a look every 20 ms", "between two looks more may be taken"},
		{"take all memory by files in memory", "memory cgroup, sizes of /tmp and /dev/shm",
			"files in memory that have no name are seen while they are mapped"},
		{"fill the disk", "account of bytes written, looked at every 20 ms; rlimit for one file",
			"a kernel without that account (CONFIG_TASK_IO_ACCOUNTING): only one file's size is bound"},
		{"fill /tmp", "its size", refused},
		{"open files without end", "rlimit", refused},
		{"print without end", "the pipe", refused},
		{"take all time", "the clock", refused},
		{"change a start-up file that is there", "mount namespace: it is read-only", refused},
		{"make a start-up file", "set aside when the run ends", refused},
		{"move a start-up file's directory and make another", "set aside when the run ends", refused},
		{"have a start-up file kept from a throw-away copy", "never carried over", refused},
	}
}

// NotCovered are the limits of what the walls can do, for a report.
func NotCovered() []string {
	return []string{
		"A defect of the kernel in what the filter lets through. Programs of strangers belong into a virtual machine.",
		"What the command does to the workspace it may write: that is what was allowed. Use --overlay to look at it first.",
		"A start-up file that the command makes in the workspace is there until the command ends. Use --overlay where something outside watches.",
		"A package.json, Makefile or source file that runs something later: it is the work itself. A file that a " +
			"start-up file that is a link leads to. A bare repository under another name.",
		"Secrets that lie in the workspace: the command can read them, and send them to a host it may reach.",
		"A host that may be reached is reached over TLS: what is sent there is not looked at.",
		"Side channels: timing, load, and what the kernel tells of the processor.",
		"The same user outside the sandbox, who can do anything to it, and another home of Interlock at work in the same workspace.",
	}
}
