package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission"
)

// cmdStep proposes a shell command as a step of a monitored execution: step AGENT COMMAND. It prints the answer and the
// challenge that holds the agent back.
func cmdStep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: step AGENT COMMAND")
	}
	backend := opened(ts)
	defer backend.Close()
	answer := backend.ProposeBy(context.Background(), stepping(), step(args[0], args[1], ts.Getenv("WORK")))
	said := fmt.Sprintf("%s %s\n", answer.Answer, answer.Challenge)
	fmt.Fprint(ts.Stdout(), said)
	ts.Check(os.WriteFile(ts.MkAbs("step"), []byte(said), 0o600))
}

// cmdVerify answers a challenge: verify AGENT CHALLENGE CODE. It prints what came of it.
func cmdVerify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: verify AGENT CHALLENGE CODE")
	}
	backend := opened(ts)
	defer backend.Close()
	v, err := backend.Verify(context.Background(), interlock.Requester{Agent: args[0], Principal: account.Name()}, args[1], args[2])
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), v.Result)
}

func opened(ts *testscript.TestScript) *embedded.Backend {
	backend, err := embedded.Open(context.Background(), embedded.Config{Home: ts.Getenv("INTERLOCK_HOME")})
	ts.Check(err)
	return backend
}

// step is a proposal that a monitored execution reports.
func step(agent, command, dir string) interlock.Proposal {
	return interlock.Proposal{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Dir: dir},
		Requester: interlock.Requester{Agent: agent, Principal: account.Name(), Run: "exe_1"}, Door: "test",
		View: interlock.View{Workspace: dir, Home: filepath.Dir(dir)}}
}

// stepping is how the door of executions brings a step.
func stepping() admission.Way {
	return admission.Way{Loop: &interlock.Loop{Execution: "exe_1", Step: 1}}
}
