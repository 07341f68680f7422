package tune

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/ledger"
)

type ToolsCommand struct {
	List       toolsList       `cmd:"" default:"withargs" help:"List the servers behind the gateway and their tools, with what is in quarantine and why."`
	Show       toolsShow       `cmd:"" help:"Show a tool or a server: its standing, and how what was seen last differs from what was approved."`
	Approve    toolsApprove    `cmd:"" help:"Approve a tool, or a server, as it was seen last, signed with an operator's SSH key."`
	Sign       toolsSign       `cmd:"" help:"Sign for what is in use because first use was trusted: one thing, or all of a server."`
	Quarantine toolsQuarantine `cmd:"" help:"Put a tool, or a server with all its tools, into quarantine."`
}

type toolsList struct {
	cli.ListFlags
	Server      string `arg:"" optional:"" help:"Only this server's."`
	Quarantined bool   `help:"Only what is in quarantine."`
	Unsigned    bool   `help:"Only what is in use since its first use and nobody has signed for yet."`
	JSON        bool   `name:"json" help:"Print one JSON object to a line."`
}

// Run lists pins by server and tool.
func (c *toolsList) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	all, err := c.pins(p, backend)
	if err != nil {
		return err
	}
	defer c.More(p, all.More())
	var pins []interlock.Pin
	for _, pin := range all.Rows {
		if !(c.Quarantined && pin.Status == interlock.PinApproved) && !(c.Unsigned && !pin.Unsigned()) {
			pins = append(pins, pin)
		}
	}
	if c.Server != "" && len(all.Rows) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "SERVER",
			"nothing is known of it; `interlock tools list` lists servers and tools")
	}
	sort.Slice(pins, func(i, j int) bool {
		return pins[i].Server < pins[j].Server || pins[i].Server == pins[j].Server && pins[i].Tool < pins[j].Tool
	})
	if c.JSON {
		for _, pin := range pins {
			if err := cli.WriteLine(p.Stdout, pin); err != nil {
				return err
			}
		}
		return nil
	}
	if len(pins) == 0 {
		said := "nothing; tools are known from when `interlock gateway` first lists them"
		if len(all.Rows) > 0 {
			said = "nothing of that kind"
		}
		_, err := fmt.Fprintln(p.Stdout, said)
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tSTATUS\tSINCE\tWHY")
	for _, pin := range pins {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", cli.Printable(pinName(pin)), pin.Status, pin.Since.Local().Format("2006-01-02 15:04"),
			pinning.PinSays(pin))
	}
	return table.Flush()
}

// pins are those of the server that was named, or of all of them.
func (c *toolsList) pins(p *cli.Program, backend *embedded.Backend) (core.List[interlock.Pin], error) {
	if c.Server == "" {
		return core.Listed[interlock.Pin](p.Ctx, backend, ledger.Pin, ledger.Every(c.Limit()))
	}
	var list core.List[interlock.Pin]
	if strings.ContainsAny(c.Server, "./") {
		return list, nil // no server is called that
	}
	standing, err := backend.Ground(p.Ctx, pinning.PinsOf(c.Server))
	for _, pin := range standing.Pins { // any order: they are sorted later
		list.Rows = append(list.Rows, pin)
	}
	list.All = len(list.Rows)
	return list, err
}

// pinName is what a pin is called on the command line.
func pinName(pin interlock.Pin) string { return interlock.PinSubject(pin.Server, pin.Tool) }

type toolsShow struct {
	Subject string `arg:"" name:"tool" help:"SERVER.TOOL, or SERVER for all of it."`
	JSON    bool   `name:"json" help:"Print one JSON object to a line."`
}

// Run shows pins and what has changed of their definitions.
func (c *toolsShow) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(pinning.PinsOf(c.Subject))
	if err != nil {
		return err
	}
	defer backend.Close()
	pins, known := pinning.Pinned(standing, c.Subject)
	if !known {
		return unknownTool()
	}
	if !c.JSON {
		if err := showPins(p, p.Stdout, backend, pins); err != nil || len(pins) != 1 {
			return err
		}
		return showWhole(p, p.Stdout, backend, pins[0])
	}
	for _, pin := range pins {
		approved, seen, err := definitions(p, backend, pin)
		if err != nil {
			return err
		}
		if err := cli.WriteLine(p.Stdout, struct {
			interlock.Pin
			Differences []pinning.Difference `json:"differences,omitempty"`
		}{pin, pinning.Differences(approved, seen)}); err != nil {
			return err
		}
	}
	return nil
}

func unknownTool() error {
	return interlock.Errorf(interlock.CodeNotFound, "TOOL",
		"nothing is known of it; `interlock tools list` lists servers and tools")
}

func definitions(p *cli.Program, backend *embedded.Backend, pin interlock.Pin) (approved, seen []byte, err error) {
	one, two, err := backend.Definitions(p.Ctx, pin.Server, pin.Tool)
	var refusal *interlock.Error
	if errors.As(err, &refusal) && refusal.Code == interlock.CodeNotFound {
		return nil, nil, nil // the pin of a server that never listed anything
	}
	return one, two, err
}

// showPins prints what an operator has to see of pins before approving them: whatever differs, and all of what is new.
func showPins(p *cli.Program, w io.Writer, backend *embedded.Backend, pins []interlock.Pin) error {
	var b strings.Builder
	for _, pin := range pins {
		fmt.Fprintf(&b, "%s: %s since %s; %s\n", cli.Printable(pinName(pin)), pin.Status,
			pin.Since.Local().Format("2006-01-02 15:04"), pinning.PinSays(pin))
		if pin.Tool == "" {
			if pin.SeenFrom != pin.Identity {
				fmt.Fprintf(&b, "  identity\n  - %s\n  + %s\n", cli.OrDash(string(pin.Identity)), pin.SeenFrom)
			}
			continue
		}
		approved, seen, err := definitions(p, backend, pin)
		if err != nil {
			return err
		}
		differences := pinning.Differences(approved, seen)
		if len(differences) == 0 {
			b.WriteString("  its definition is the approved one\n")
		}
		for _, d := range differences {
			fmt.Fprintf(&b, "  %s\n", d.Pointer)
			for _, line := range d.Before {
				fmt.Fprintf(&b, "  - %s\n", line)
			}
			for _, line := range d.After {
				fmt.Fprintf(&b, "  + %s\n", line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// showWhole prints the definition of a tool where nothing differs, which showPins leaves out: the person who
// trusted first use has not read it yet.
func showWhole(p *cli.Program, w io.Writer, backend *embedded.Backend, pin interlock.Pin) error {
	approved, seen, err := definitions(p, backend, pin)
	if err != nil || pin.Tool == "" || len(pinning.Differences(approved, seen)) > 0 {
		return err
	}
	for _, place := range pinning.Differences(nil, seen) {
		if _, err := fmt.Fprintf(w, "  %s\n    %s\n", place.Pointer, strings.Join(place.After, "\n    ")); err != nil {
			return err
		}
	}
	return nil
}

type toolsApprove struct {
	Subject string `arg:"" name:"tool" help:"SERVER.TOOL, or SERVER for everything of it that is in quarantine, except what speaks to the model."`
	Reason  string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	cli.OrderFlags
}

// Run shows what is approved, on the error stream, so that no pipeline swallows it, then signs the order and hands it in. The
// order is bound to just what was shown.
func (c *toolsApprove) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(pinning.PinsOf(c.Subject))
	if err != nil {
		return err
	}
	defer backend.Close()
	pins, detail, err := pinning.Approvable(standing, c.Subject)
	if err != nil {
		return err
	}
	if err := showPins(p, p.Stderr, backend, pins); err != nil {
		return err
	}
	return changePins(p, backend, interlock.VerbApproveTool, c.Subject, detail, c.Reason, c.OrderFlags)
}

type toolsQuarantine struct {
	Subject string `arg:"" name:"tool" help:"SERVER.TOOL, or SERVER for all of it."`
	Reason  string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	cli.OrderFlags
}

// Run puts something into quarantine.
func (c *toolsQuarantine) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	return changePins(p, backend, interlock.VerbQuarantineTool, c.Subject, "", c.Reason, c.OrderFlags)
}

// changePins has an operator sign an order about pins, and hands it in.
func changePins(p *cli.Program, backend *embedded.Backend, verb interlock.Verb, subject, detail, reason string, who cli.OrderFlags) error {
	given, done, err := p.OrderNew(backend, who, verb, subject, detail, reason)
	if err != nil {
		return err
	}
	return p.Did(done, given)
}

type toolsSign struct {
	Subject string `arg:"" name:"tool" help:"SERVER for all of it, SERVER.TOOL, SERVER/prompts/NAME, SERVER/resources/URI or SERVER/templates/TEMPLATE."`
	Reason  string `help:"Why, for the record." placeholder:"TEXT"`
	cli.OrderFlags
}

// Run shows what is signed, on the error stream and with the whole of each definition, then signs the order and hands it in. The
// order is bound to just what was shown, and lets nothing out of quarantine.
func (c *toolsSign) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(pinning.PinsOf(c.Subject))
	if err != nil {
		return err
	}
	defer backend.Close()
	pins, detail, err := pinning.Signable(standing, c.Subject)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		if _, err := fmt.Fprintf(p.Stderr, "%s: %s\n", cli.Printable(pinName(pin)), pinning.PinSays(pin)); err != nil {
			return err
		}
		if pin.Tool == "" {
			if _, err := fmt.Fprintf(p.Stderr, "  identity\n    %s\n", pin.Identity); err != nil {
				return err
			}
			continue
		}
		if err := showWhole(p, p.Stderr, backend, pin); err != nil {
			return err
		}
	}
	return changePins(p, backend, interlock.VerbSignTools, c.Subject, detail, c.Reason, c.OrderFlags)
}
