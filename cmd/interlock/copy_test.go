package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/internal/admission"
)

// cmdDrop and cmdTamper copy an exported copy and take out, or change a byte of, one of its texts:
//
//	drop|tamper FROM TO index N|base|manifest|governance|limits|rules
func cmdDrop(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(recopy(ts, neg, args, func([]byte) []byte { return nil }))
}

func cmdTamper(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(recopy(ts, neg, args, func(text []byte) []byte {
		at := bytes.LastIndexByte(text, '"') - 1 // the last letter of the last string
		text[at] ^= 1
		return text
	}))
}

func recopy(ts *testscript.TestScript, neg bool, args []string, change func([]byte) []byte) error {
	if neg || len(args) < 3 {
		return fmt.Errorf("usage: drop|tamper FROM TO index N|base|manifest|governance|limits|rules")
	}
	from, to := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(from, audit.ExportedInputs))
	if err != nil {
		return err
	}
	marks := map[string]string{"base": `{"analyser":`, "manifest": `{"schema":"interlock.manifest/`,
		"governance": `"schema":"interlock.governance/v1"}`, "limits": `"schema":"interlock.limits/v1"`,
		"privacy": `"schema":"interlock.privacy/v1"`, "registry": `"schema":"interlock.registry/v1"`, "rules": `{"defaults":`}
	var out bytes.Buffer
	changed := 0
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, audit.MaxInputsLine)
	for scanner.Scan() {
		var l audit.InputsLine
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return err
		}
		is := args[2] == "index" && l.Index != nil && len(args) == 4 && fmt.Sprint(*l.Index) == args[3] ||
			args[2] != "index" && l.Blob != "" && strings.Contains(string(l.Text), marks[args[2]])
		if is {
			changed++
			if l.Text = change(l.Text); l.Text == nil {
				continue
			}
		}
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	if changed == 0 {
		return fmt.Errorf("the copy has no %v", args[2:])
	}
	return os.WriteFile(filepath.Join(to, audit.ExportedInputs), out.Bytes(), 0o600)
}

// cmdOtherAnalyser makes a copy of a log of which another build of the analysis made the record: otheranalyser TO.
func cmdOtherAnalyser(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: otheranalyser TO")
	}
	home := ts.MkAbs("analysed")
	ts.Check(inHome(context.Background(), home, time.Now(), "another", func(a *admission.Admission) error {
		answer := a.Propose(context.Background(), interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: "ls", Dir: "/repo"},
			View: interlock.View{Workspace: "/repo"}, Requester: interlock.Requester{Agent: "claude", Run: "run", Call: "c1"}, Door: "test"})
		if answer.Event == "" {
			return fmt.Errorf("nothing was recorded: %+v", answer)
		}
		return nil
	}))
	ts.Setenv("INTERLOCK_HOME", home)
	ts.Check(ts.Exec("interlock", "audit", "export", "--output", args[0], "--inputs"))
	ts.Setenv("INTERLOCK_HOME", ts.MkAbs("other"))
}
