package main

import (
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
	"interlock/internal/startup"
)

// system looks at the system's installation below a directory, where there is one: that what it wrote is as it was written, and that
// nobody but root and the server's user could have put another server in its place.
func (d *diagnosis) system(root string) {
	unit := filepath.Join(root, startup.UnitPath)
	text, err := fileio.Own(unit, 1<<20, fileio.Settled)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		d.note("system", "", statusFail, "%s can't be believed: %s", unit, fileio.Reason(err))
		return
	}
	for _, line := range startup.Confinement() {
		if !strings.Contains("\n"+string(text), "\n"+line+"\n") {
			d.note("system", "", statusWarn, "%s lacks %s; interlock install --system writes it anew", unit, line)
			return
		}
	}
	socket := filepath.Join(root, startup.SystemSocket)
	info, err := os.Lstat(socket)
	if err != nil {
		d.note("system", "", statusWarn, "the system's server is installed and does not listen at %s; systemctl status interlock says why", socket)
		return
	}
	if info.Mode()&os.ModeSocket == 0 || info.Mode().Perm()&0o007 != 0 {
		d.note("system", "", statusFail, "%s is no socket, or everybody may connect to it; systemctl restart interlock makes it anew", socket)
		return
	}
	d.note("system", "", statusOK, "the system's server is confined and listens at %s", socket)
}
