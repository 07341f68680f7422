package main

import (
	"context"
	"fmt"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/lineage"
	"interlock/internal/notice"
)

// fenceTime is how long a command waits for people to be told that it was refused.
const fenceTime = 5 * time.Second

// person refuses a command that governs where a harness, a hook, a server or a sandbox is above it. It is a fence and no wall: a process
// that is detached well enough is not seen, and then the signature is what holds. Each attempt is an event and is told on the channels.
func (p *program) person(backend *embedded.Backend, about string) error {
	seen, found := lineage.Machine(p.getenv)
	if !found {
		return nil
	}
	refusal := interlock.Errorf(interlock.CodeUnauthorized, "",
		"this takes a person, and the command comes from %s; type it in a terminal of your own", seen)
	_, err := backend.RefuseApproval(p.ctx, "agent", seen.Name, about, refusal)
	p.warn(backend.Settings, seen.Name+": tried to govern: "+refusal.Message)
	if err != nil {
		return fmt.Errorf("%w (and the attempt could not be recorded)", refusal)
	}
	return refusal
}

// warn tells people on the channels, for a moment. What they don't hear now stands in the log.
func (p *program) warn(settings config.Config, message string) {
	channels, err := embedded.Channels(settings)
	if err != nil || channels == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, fenceTime)
	defer cancel()
	_ = channels.Notify(ctx, notice.Notice{Severity: interlock.TierVerify, Kind: "alert", Rule: "approval-refused", Reason: message})
}
