package main

import (
	"interlock/embedded"
	"interlock/internal/harness"
	"interlock/internal/store"
)

// openForRecord opens the home to record what is registered. The home and its keys are made where there are none yet, so that there is
// something to pin.
func (p *program) openForRecord() (*embedded.Backend, error) {
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	return embedded.OpenBrief(p.ctx, settings)
}

// recordRemoved records that a hook was taken out, where there is a log.
func (p *program) recordRemoved(h harness.Harness, project string) error {
	settings, err := p.settings()
	if err != nil || !store.Exists(settings.Home) {
		return err
	}
	backend, err := p.openForRecord()
	if err != nil {
		return err
	}
	defer backend.Close()
	return p.recordInstalled(backend, h, project, true)
}
