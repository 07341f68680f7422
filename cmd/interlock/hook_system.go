package main

import (
	"context"
	"runtime"

	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/harness"
	"interlock/internal/hook"
	"interlock/internal/lineage"
	"interlock/internal/startup"
	"interlock/internal/store"
	"interlock/internal/witness"
)

// systemSocket is where the system's server is asked: the socket that was named, or its usual place where this user named no home
// and has no store of their own. Empty: this user's own store decides.
func (p *program) systemSocket(named string) string {
	if named != "" || runtime.GOOS != "linux" {
		return named
	}
	if g := p.globals; g.Home != "" || g.Config != "" || g.RulesDir != "" || g.Profile != "" || g.Mode != "" {
		return ""
	}
	home, err := config.DefaultHome(p.getenv)
	if err == nil && store.Exists(home) || !exists(startup.SystemSocket) {
		return ""
	}
	return startup.SystemSocket
}

// systemHook has the system's server decide. There is no second place to decide in: what it does not answer is refused, whether it
// is not there, too slow, or somebody else's.
func (p *program) systemHook(c hookCommand, socket string) int {
	if c.Event == harness.ConfigChange {
		return 0 // the server looks at what agents' settings are; this user's process has nothing to hold them against
	}
	environment := hook.Environment{Event: c.Event, Principal: account.Name(), Unattended: p.globals.Unattended}
	var alone bool
	environment.Prompts, alone = lineage.Look(c.Agent, p.getenv)
	environment.Unattended = environment.Unattended || alone
	return hook.Process{Agent: c.Agent, Environment: environment, Deadline: c.Deadline, Socket: socket, System: true, Redact: redacted,
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
		Judge: func(_ context.Context, call hook.Call, _ []byte) (hook.Output, witness.News) {
			return hook.RefuseSystem(call, socket), witness.News{}
		},
	}.Run(p.ctx)
}
