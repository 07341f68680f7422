package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock/test/wait"
)

// scriptCommands are the commands scripts have beside the standard ones.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"aged":          cmdAged,
	"call":          cmdCall,
	"chance":        cmdChance,
	"drop":          cmdDrop,
	"eventually":    cmdEventually,
	"flip":          cmdFlip,
	"impostor":      cmdImpostor,
	"mask":          cmdMask,
	"mend":          cmdMend,
	"model":         cmdModel,
	"otheranalyser": cmdOtherAnalyser,
	"pick":          cmdPick,
	"serve":         cmdServe,
	"shutdown":      cmdShutdown,
	"sql":           cmdSQL,
	"status":        cmdStatus,
	"spoil":         cmdSpoil,
	"step":          cmdStep,
	"tamper":        cmdTamper,
	"verify":        cmdVerify,
}

// cmdEventually runs a program again and again until it succeeds, because what it looks for is on its way: eventually program args…
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: eventually program [args...]")
	}
	if !wait.Holds(func() bool { return ts.Exec(args[0], args[1:]...) == nil }) {
		ts.Fatalf("waited in vain for %q", args)
	}
}

// cmdChance lets time pass in which something could happen, with nothing that says whether it has: chance DURATION
func cmdChance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: chance DURATION")
	}
	of, err := time.ParseDuration(args[0])
	ts.Check(err)
	wait.Chance(of)
}

// cmdStatus runs a program and demands an exact exit status: status N program args… Standard output and error can be
// looked at afterwards as after exec.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// cmdFlip changes one bit of a file: flip FILE OFFSET. Done twice it is undone.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(file, data, 0o600))
}

// cmdSQL does to the store of $INTERLOCK_HOME what somebody with the file and an SQL shell can: sql STATEMENT.
func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sql STATEMENT")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("INTERLOCK_HOME"), "interlock.db"))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[0])
	ts.Check(err)
}
