package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/strictjson"
)

// A hostDecider decides for the sandbox's proxy: a host that nobody named is refused, and one that was named is an action of
// the command's agent, decided once for each run.
type hostDecider struct {
	backend  *embedded.Backend
	settings config.Config
	proposal interlock.Proposal // of the command
	named    []string

	mu      sync.Mutex
	decided map[string]error
}

func (d *hostDecider) decide(ctx context.Context, host string, port int) error {
	target := net.JoinHostPort(host, strconv.Itoa(port))
	d.mu.Lock()
	defer d.mu.Unlock()
	if err, known := d.decided[target]; known {
		return err
	}
	err := d.judge(ctx, host, port)
	if d.decided == nil {
		d.decided = map[string]error{}
	}
	d.decided[target] = err
	return err
}

func (d *hostDecider) judge(ctx context.Context, host string, port int) error {
	requester := d.proposal.Requester
	if !slices.ContainsFunc(d.named, func(named string) bool { return namesHost(named, host, port) }) {
		refusal := interlock.Errorf(interlock.CodeUnauthorized, "",
			"%s:%d is not among the hosts of this run; --allow-host or the profile names them", host, port)
		d.backend.Refuse(ctx, requester, "exec", refusal)
		return refusal
	}
	url := "https://" + host + "/"
	if port != 443 {
		url = fmt.Sprintf("https://%s:%d/", host, port)
	}
	arguments, err := strictjson.Marshal(map[string]string{"method": "CONNECT", "url": url})
	if err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the connection could not be decided")
	}
	if requester.Call, err = callID(); err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the connection could not be decided")
	}
	answer := d.backend.ProposeBy(ctx, admission.Way{Sandboxed: true, Unseen: true}, interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindHTTP, Arguments: arguments,
			Dir: d.proposal.Action.Dir},
		Requester: requester, View: embedded.GatherView(d.settings, d.proposal.Action.Dir), Door: "exec", CanAsk: true})
	if answer.Answer.Allowed() && answer.Event != "" {
		return nil
	}
	reason := "it is not allowed"
	if f := answer.Decisive(); f != nil {
		reason = f.Rule + ": " + f.Reason
	}
	if answer.Request != "" {
		reason += "; request " + answer.Request + " waits for an operator"
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "", "%s:%d: %s", host, port, reason)
}

// namesHost reports whether a setting such as example.com or example.com:8443 means a host and port.
func namesHost(named, host string, port int) bool {
	name, text, with := strings.Cut(strings.ToLower(named), ":")
	want := 443
	if with {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			return false
		}
	}
	return name == host && want == port
}
