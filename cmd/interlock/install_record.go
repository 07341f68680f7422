package main

import (
	"interlock/embedded"
	"interlock/internal/harness"
)

// pinServer says beside a harness's settings under which key the server of this home has to answer its hook. The home and the key
// are made where there are none yet, so that there is something to pin.
func (p *program) pinServer(agent string) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := harness.Pin(userHome(p.getenv), agent, settings.Home, backend.Answers.Pin()); err != nil {
		return refusedFile(err)
	}
	return nil
}
