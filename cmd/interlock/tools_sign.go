package main

import (
	"fmt"

	"interlock"
	"interlock/internal/admission"
)

type toolsSign struct {
	Subject string `arg:"" name:"tool" help:"SERVER for all of it, SERVER.TOOL, SERVER/prompts/NAME, SERVER/resources/URI or SERVER/templates/TEMPLATE."`
	Reason  string `help:"Why, for the record." placeholder:"TEXT"`
	orderFlags
}

// Run shows what is signed, on the error stream and with the whole of each definition, then signs the order and hands it in. The
// order is bound to just what was shown, and lets nothing out of quarantine.
func (c *toolsSign) Run(p *program) error {
	backend, standing, err := p.openStanding(admission.PinsOf(c.Subject))
	if err != nil {
		return err
	}
	defer backend.Close()
	pins, detail, err := admission.Signable(standing, c.Subject)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		if _, err := fmt.Fprintf(p.stderr, "%s: %s\n", printable(pinName(pin)), admission.PinSays(pin)); err != nil {
			return err
		}
		if pin.Tool == "" {
			if _, err := fmt.Fprintf(p.stderr, "  identity\n    %s\n", pin.Identity); err != nil {
				return err
			}
			continue
		}
		if err := showWhole(p, p.stderr, backend, pin); err != nil {
			return err
		}
	}
	return changePins(p, backend, interlock.VerbSignTools, c.Subject, detail, c.Reason, c.orderFlags)
}
