package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"interlock"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/store"
)

// The files of an exported copy. They are all that verification needs.
const (
	exportedEvents     = "events.jsonl"
	exportedCheckpoint = "checkpoint"
	exportedKey        = "log.pub"
)

type auditProveCommand struct {
	Event string `arg:"" help:"Event id or index."`
}

// Run prints a C2SP tlog-proof.
func (c *auditProveCommand) Run(p *program) error {
	store, entry, err := p.auditEntry(c.Event)
	if err != nil {
		return err
	}
	defer store.Close()
	head, err := store.Head(p.ctx)
	if err != nil {
		return err
	}
	proof, err := auditlog.Prove(p.ctx, store, head.Checkpoint, entry.Index)
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(proof.Text())
	return err
}

type auditCheckProofCommand struct {
	Proof string `arg:"" help:"Receipt made by audit prove." type:"path"`
	Event string `arg:"" help:"File with the event, as audit show prints it." type:"path"`
	Key   string `help:"The log's public key. Default: log.pub in the home directory." type:"path" placeholder:"FILE"`
}

// Run checks a receipt. It reads the three files and nothing else.
func (c *auditCheckProofCommand) Run(p *program) error {
	key, err := p.publicKey(c.Key)
	if err != nil {
		return err
	}
	text, err := fileio.Plain(c.Proof, 64<<10)
	if err != nil {
		return interlock.Errorf(interlock.CodeNotFound, "proof", "the receipt can't be read: %s", fileio.Reason(err))
	}
	proof, err := auditlog.ParseProof(text)
	if err != nil {
		return err
	}
	event, err := fileio.Plain(c.Event, auditlog.MaxEntry+1)
	if err != nil {
		return interlock.Errorf(interlock.CodeNotFound, "event", "the event can't be read: %s", fileio.Reason(err))
	}
	if n := len(event); n > 0 && event[n-1] == '\n' {
		event = event[:n-1] // a file ends in a line end, an event does not
	}
	checkpoint, err := proof.Check(key, event)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "the event is entry %d of the %d that %s signed\n", proof.Index, checkpoint.Size, key.ID())
	return err
}

type auditExportCommand struct {
	Format string `help:"jsonl, cloudevents or ocsf." enum:"jsonl,cloudevents,ocsf" default:"jsonl" placeholder:"FORMAT"`
	Inputs bool   `help:"Also write what decisions were made from, so that they can be made again from the copy; with --output."`
	Output string `help:"Directory to write into, with checkpoint and public key beside the events. Default: standard output, events only." type:"path" placeholder:"DIR"`
	archiveFlags
}

// Help is what `interlock audit export --help` adds.
func (auditExportCommand) Help() string {
	return "A jsonl copy holds the events' exact bytes: interlock audit verify --from DIR proves it without the store.\n" +
		"The other formats are translations for other systems; each carries the exact event inside."
}

// Run writes the log.
func (c *auditExportCommand) Run(p *program) error {
	store, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	// The head is read first, so that the copy holds at least what it covers; what was appended since is left out.
	head, err := store.Head(p.ctx)
	if err != nil {
		return err
	}
	log, err := c.log(p, store)
	if err != nil {
		return err
	}
	walking := p.walking("exporting the log", log)
	defer walking.end()
	log = watchedRecording{log, walking}
	source := auditlog.UpTo(log, head)
	if c.Output == "" && c.Inputs {
		return interlock.Errorf(interlock.CodeInvalid, "--inputs", "goes into a directory; name one with --output")
	}
	if c.Output == "" {
		return c.write(p, p.stdout, source)
	}
	key, err := p.publicKey("")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o700); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--output", "the directory can't be made: %s", fileio.Reason(err))
	}
	file, err := os.OpenFile(filepath.Join(c.Output, exportedEvents), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--output", "the copy can't be written: %s", fileio.Reason(err))
	}
	err = c.write(p, file, source)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Output, exportedCheckpoint), head.Checkpoint, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Output, exportedKey), []byte(key.String()+"\n"), 0o600)
	}
	if err == nil && c.Inputs {
		err = c.inputs(p, log, head.Size)
	}
	return err
}

// log is what is exported: all of the log, or the reason why not all of it is here.
func (c *auditExportCommand) log(p *program, opened *store.Store) (archive.Recording, error) {
	key, err := p.publicKey("")
	if err != nil {
		return nil, err
	}
	log, err := c.joined(p, opened, key)
	if err != nil {
		return nil, err
	}
	return whole{log, opened}, nil
}

// A whole log is one whose reading ends at an entry that is archived elsewhere, and says where that is.
type whole struct {
	archive.Recording
	store store.Log
}

// Walk calls visit for every entry.
func (w whole) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return w.Recording.Walk(ctx, func(e interlock.Entry) error {
		if auditlog.Released(&e) {
			return gone(ctx, w.store, e.Index)
		}
		return visit(e)
	})
}

// inputs writes what decisions were made from.
func (c *auditExportCommand) inputs(p *program, log archive.Recording, size int64) error {
	file, err := os.OpenFile(filepath.Join(c.Output, exportedInputs), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--output", "the copy can't be written: %s", fileio.Reason(err))
	}
	err = writeInputs(p.ctx, file, log, size)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

func (c *auditExportCommand) write(p *program, w io.Writer, source auditlog.Source) error {
	if c.Format == "jsonl" {
		return auditlog.WriteLines(p.ctx, w, source)
	}
	render := auditlog.CloudEvent
	if c.Format == "ocsf" {
		render = auditlog.OCSF
	}
	key, err := p.publicKey("")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	err = source.Walk(p.ctx, func(e interlock.Entry) error {
		var line json.RawMessage
		if line, err = render(e, key.Origin()); err != nil {
			return err
		}
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
