package startup

import (
	"path"
	"strings"
)

// A SystemFile is one that installing for the whole system writes.
type SystemFile struct {
	Path    string // absolute, as the running system sees it
	Mode    uint32
	Content []byte
	Keep    bool // it is for people to change: one that is there stays, and one that was changed is not removed
}

// A System is Interlock's server under a user of its own, with what it is given. Its zero value is not useful.
type System struct {
	Program string // the interlock program, absolute
	Witness bool   // also a witness that cosigns other logs
}

// The names that a system installation goes by.
const (
	SystemUser    = "interlock"
	SystemGroup   = "interlock-agents" // whose users may connect to the socket for agents
	SystemHome    = "/var/lib/interlock"
	SystemConfig  = "/etc/interlock/interlock.yaml"
	SystemUnit    = "interlock.service"
	WitnessUnit   = "interlock-witness.service"
	runtimeDir    = "/run/interlock"
	credentialDir = "/etc/interlock/credentials"
	unitDir       = "/etc/systemd/system"
	usersFile     = "/etc/sysusers.d/interlock.conf"
)

// SystemSocket is where hooks of other users reach the server.
const SystemSocket = runtimeDir + "/agents.sock"

// SystemPaths are the places that belong to a system installation and that no agent may touch.
func SystemPaths() []string {
	return []string{runtimeDir, path.Dir(SystemConfig), path.Join(unitDir, SystemUnit), path.Join(unitDir, SystemUnit+".d"),
		path.Join(unitDir, WitnessUnit), usersFile}
}

// confined is what every unit has: no capability and no way to one, nothing of the system to write, no device, no home of anybody,
// no kernel setting, no memory that is written and run, and only the calls and sockets that a server needs. PrivateUsers is left
// out on purpose: inside a user namespace the kernel would call everybody who asks at the agents' socket "nobody".
const confined = `NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateMounts=yes
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
KeyringMode=private
RemoveIPC=yes
UMask=0077
LimitCORE=0
`

// UnitPath is where the server's unit is.
const UnitPath = unitDir + "/" + SystemUnit

// Confinement are the lines of the server's unit that keep it apart from the rest of the system.
func Confinement() []string {
	return append(strings.Split(strings.TrimSpace(confined), "\n"), "User="+SystemUser)
}

// Files are what is written, in order.
func (s System) Files() []SystemFile {
	files := []SystemFile{
		{Path: usersFile, Mode: 0o644, Content: []byte(madeBy + "u " + SystemUser + " - \"Interlock, the safety interlock of AI agents\" " +
			SystemHome + " /usr/sbin/nologin\ng " + SystemGroup + " -\nm " + SystemUser + " " + SystemGroup + "\n")},
		{Path: SystemConfig, Mode: 0o644, Keep: true, Content: []byte("# Settings of the system's Interlock; " +
			"docs/reference/settings.md lists them. " +
			"They are root's: the server reads them and can't\n# change them. A secret is a reference: credential:NAME is the file NAME in " +
			credentialDir + ".\n")},
		{Path: credentialDir + "/README", Mode: 0o600, Keep: true, Content: []byte("Each file here is a secret that systemd hands to the " +
			"server when it starts; settings name it credential:FILE.\nThey are root's, mode 0600; the server's own user can't read them here.\n")},
		{Path: path.Join(unitDir, SystemUnit), Mode: 0o644, Content: []byte(s.server())},
	}
	if s.Witness {
		files = append(files, SystemFile{Path: path.Join(unitDir, WitnessUnit), Mode: 0o644, Content: []byte(s.witness())})
	}
	return files
}

const madeBy = "# Written by `interlock install --system`, removed by `interlock uninstall --system`.\n"

// server is the unit of `interlock up`, which serves the gateway as well. @chown is for one thing: a group of its own is given the
// agents' socket, which without any capability can be one that the user is in and no other.
func (s System) server() string {
	return madeBy + "[Unit]\nDescription=Interlock, the safety interlock between AI agents and the world\n" +
		"Documentation=man:interlock(1)\nAfter=network-online.target\nWants=network-online.target\n\n" +
		"[Service]\nExecStart=" + unitWord(s.Program) + " --home " + SystemHome + " --config " + SystemConfig + " up --agents-socket " +
		SystemSocket + " --agents-group " + SystemGroup + "\nRestart=on-failure\nRestartSec=2\n" +
		"User=" + SystemUser + "\nGroup=" + SystemUser + "\nSupplementaryGroups=" + SystemGroup + "\n" +
		"StateDirectory=interlock\nStateDirectoryMode=0700\nRuntimeDirectory=interlock\nRuntimeDirectoryMode=0755\n" +
		"LoadCredential=interlock:" + credentialDir + "\n" +
		strings.Replace(confined, "SystemCallErrorNumber", "SystemCallFilter=@chown\nSystemCallErrorNumber", 1) +
		"\n[Install]\nWantedBy=multi-user.target\n"
}

// witness is the unit of `interlock witness`. It owns nothing but its key and what it has seen, and nobody has to find it by its user:
// so systemd makes one for it while it runs.
func (s System) witness() string {
	return madeBy + "[Unit]\nDescription=Interlock's witness, which cosigns the heads of logs\n" +
		"Documentation=man:interlock(1)\nAfter=network-online.target\nWants=network-online.target\n\n" +
		"[Service]\nExecStart=" + unitWord(s.Program) + " witness serve --dir /var/lib/interlock-witness --logs /etc/interlock/witnessed\n" +
		"Restart=on-failure\nRestartSec=2\nDynamicUser=yes\nStateDirectory=interlock-witness\nStateDirectoryMode=0700\n" + confined +
		"\n[Install]\nWantedBy=multi-user.target\n"
}
