package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// The files of an exported copy. They are all that verification needs.
const (
	ExportedEvents     = "events.jsonl"
	exportedCheckpoint = "checkpoint"
	exportedKey        = "log.pub"
)

type auditProveCommand struct {
	Event string `arg:"" help:"Event id or index."`
}

// Run prints a C2SP tlog-proof.
func (c *auditProveCommand) Run(p *cli.Program) error {
	store, entry, err := auditEntry(p, c.Event)
	if err != nil {
		return err
	}
	defer store.Close()
	head, err := store.Head(p.Ctx)
	if err != nil {
		return err
	}
	proof, err := auditlog.Prove(p.Ctx, store, head.Checkpoint, entry.Index)
	if err != nil {
		return err
	}
	_, err = p.Stdout.Write(proof.Text())
	return err
}

type auditCheckProofCommand struct {
	Proof string `arg:"" help:"Receipt made by audit prove." type:"path"`
	Event string `arg:"" help:"File with the event, as audit show prints it." type:"path"`
	Key   string `help:"The log's public key. Default: log.pub in the home directory." type:"path" placeholder:"FILE"`
}

// Run checks a receipt. It reads the three files and nothing else.
func (c *auditCheckProofCommand) Run(p *cli.Program) error {
	key, err := publicKey(p, c.Key)
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
	_, err = fmt.Fprintf(p.Stdout, "the event is entry %d of the %d that %s signed\n", proof.Index, checkpoint.Size, key.ID())
	return err
}

type auditExportCommand struct {
	Format string `help:"jsonl, cloudevents or ocsf." enum:"jsonl,cloudevents,ocsf" default:"jsonl" placeholder:"FORMAT"`
	Inputs bool   `help:"Also write what decisions were made from, so that they can be made again from the copy; with --output."`
	Output string `help:"Directory to write into, with checkpoint and public key beside the events. Default: standard output, events only." type:"path" placeholder:"DIR"`
	ArchiveFlags
}

// Help is what `interlock audit export --help` adds.
func (auditExportCommand) Help() string {
	return "A jsonl copy holds the events' exact bytes: interlock audit verify --from DIR proves it without the store.\n" +
		"The other formats are translations for other systems; each carries the exact event inside."
}

// Run writes the log.
func (c *auditExportCommand) Run(p *cli.Program) error {
	store, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	// The head is read first, so that the copy holds at least what it covers; what was appended since is left out.
	head, err := store.Head(p.Ctx)
	if err != nil {
		return err
	}
	log, err := c.log(p, store)
	if err != nil {
		return err
	}
	walking := p.Walking("exporting the log", log)
	defer walking.End()
	log = cli.WatchedRecording{Recording: log, Progress: walking}
	source := auditlog.UpTo(log, head)
	if c.Output == "" && c.Inputs {
		return interlock.Errorf(interlock.CodeInvalid, "--inputs", "goes into a directory; name one with --output")
	}
	if c.Output == "" {
		return c.write(p, p.Stdout, source)
	}
	key, err := publicKey(p, "")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o700); err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--output", "the directory can't be made: %s", fileio.Reason(err))
	}
	file, err := os.OpenFile(filepath.Join(c.Output, ExportedEvents), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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
func (c *auditExportCommand) log(p *cli.Program, opened *store.Store) (archive.Recording, error) {
	key, err := publicKey(p, "")
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
func (c *auditExportCommand) inputs(p *cli.Program, log archive.Recording, size int64) error {
	file, err := os.OpenFile(filepath.Join(c.Output, ExportedInputs), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return interlock.Errorf(interlock.CodeUnavailable, "--output", "the copy can't be written: %s", fileio.Reason(err))
	}
	err = writeInputs(p.Ctx, file, log, size)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

func (c *auditExportCommand) write(p *cli.Program, w io.Writer, source auditlog.Source) error {
	if c.Format == "jsonl" {
		return auditlog.WriteLines(p.Ctx, w, source)
	}
	render := auditlog.CloudEvent
	if c.Format == "ocsf" {
		render = auditlog.OCSF
	}
	key, err := publicKey(p, "")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	err = source.Walk(p.Ctx, func(e interlock.Entry) error {
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

type auditArchiveCommand struct {
	Before string `help:"What was recorded before: 90d, 2160h, 2006-01-02T15:04:05Z. Default: archive_after of the settings." placeholder:"TIME"`
	To     string `help:"Directory to archive into. Default: archive_to of the settings." type:"path" placeholder:"DIR"`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock audit archive --help` adds.
func (auditArchiveCommand) Help() string {
	return "Whole bundles of 256 entries are moved, with what their decisions were made from. Their hashes stay in the store, and so do\n" +
		"events by which people govern. Nothing is deleted that was not written, synced and read back, and an event says what was\n" +
		"archived. Any client of C2SP tlog-tiles can verify the directory; interlock audit verify --archive DIR reads both."
}

// Run archives.
func (c *auditArchiveCommand) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	to, before := archiveSettings(p, backend.Settings)
	if c.To != "" {
		to = c.To
	}
	if c.Before != "" {
		if before, err = p.Moment("--before", c.Before); err != nil {
			return err
		}
	}
	switch {
	case before.IsZero():
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--before", "is missing, and archive_after is not set"))
	case to == "":
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--to", "is missing, and archive_to is not set"))
	}
	made, err := backend.Archive(p.Ctx, to, before, keptCheckpoints(p, backend.Key))
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, made)
	}
	if made.Event == "" {
		_, err = fmt.Fprintf(p.Stdout, "nothing to archive: of the entries from %d on, fewer than %d were recorded before %s\n",
			made.First, auditlog.TileWidth, before.UTC().Format(time.RFC3339))
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "archived the entries from %d to %d with %d inputs and %d texts to %s\n"+
		"%d entries and %d texts have left the store; event %s says so\n", made.First, made.Size-1, made.Inputs, made.Blobs,
		cli.Printable(made.To), made.Released, made.Gone, made.Event)
	return err
}

// archiveSettings is what the settings say of it.
func archiveSettings(p *cli.Program, c config.Config) (to string, before time.Time) {
	if c.ArchiveAfter > 0 {
		before = p.Now().Add(-time.Duration(c.ArchiveAfter))
	}
	return c.ArchiveTo, before
}

// ArchiveEvery is how often `interlock up` looks whether something is old enough.
const ArchiveEvery = time.Hour

// ArchiveBySettings archives as the settings say, for as long as the server runs. What fails leaves the store as it was, is said
// once for each reason in an ALERT, and is tried again.
func ArchiveBySettings(ctx context.Context, p *cli.Program, backend *embedded.Backend, every time.Duration, logger *slog.Logger) {
	if backend.Settings.ArchiveAfter == 0 {
		return
	}
	said := ""
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		to, before := archiveSettings(p, backend.Settings)
		made, err := backend.Archive(ctx, to, before, keptCheckpoints(p, backend.Key))
		switch {
		case err == nil:
			if said = ""; made.Event != "" {
				logger.Info("archived old entries", "first", made.First, "size", made.Size)
			}
		case ctx.Err() == nil && err.Error() != said:
			said = err.Error()
			logger.Warn("archiving old entries", "error", said)
			if err := backend.Alarm(ctx, "archive",
				"old entries could not be archived and are all in the store still: "+said); err != nil {
				logger.Warn("recording that archiving failed", "error", err.Error())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// ArchiveFlags name where archived entries are.
type ArchiveFlags struct {
	Archive []string `help:"A directory with archived entries; may be given more than once." type:"path" placeholder:"DIR"`
}

// archives opens the archives that were named and checks every file of them; nil if none was.
func (f *ArchiveFlags) archives(p *cli.Program, key *auditlog.PublicKey) (*archive.Archives, error) {
	if len(f.Archive) == 0 {
		return nil, nil
	}
	archives, err := archive.Open(f.Archive...)
	if err != nil {
		return nil, err
	}
	return archives, archives.Check(p.Ctx, key)
}

// joined is a store with the archives that were named. Each part must be the one that an event of the log names.
func (f *ArchiveFlags) joined(p *cli.Program, opened *store.Store, key *auditlog.PublicKey) (archive.Recording, error) {
	archives, err := f.archives(p, key)
	if err != nil || archives == nil {
		return opened, err
	}
	records, err := archivings(p.Ctx, opened)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		part, found := archives.Part(record.First)
		if found && part.Digest != record.Manifest {
			return nil, &archive.Damage{Detail: fmt.Sprintf("what it says of the entries from %d to %d is not what event %s names",
				part.First, part.Size-1, record.event)}
		}
	}
	return archives.Over(opened), nil
}

// gone says in one sentence where an archived entry went.
func gone(ctx context.Context, log store.Log, index int64) error {
	records, err := archivings(ctx, log)
	if err != nil {
		return err
	}
	for _, record := range records {
		if index >= record.First && index < record.Size {
			return interlock.Errorf(interlock.CodeNotFound, "", "entry %d was archived on %s to %s; name that directory with --archive",
				index, record.at.Format("2006-01-02"), cli.Printable(record.To))
		}
	}
	return interlock.Errorf(interlock.CodeNotFound, "",
		"the content of entry %d was removed, and no event says that it was archived; run interlock audit verify", index)
}

// An archiving is what an event says of one, with when and by which id.
type archiving struct {
	auditlog.ArchiveRecord
	event string
	at    time.Time
}

// archivings are what has left a store, newest first.
func archivings(ctx context.Context, log store.Log) ([]archiving, error) {
	out := []archiving{}
	for before := int64(-1); ; {
		entries, err := log.Entries(ctx, interlock.EventArchive, ledger.Before(before, 100))
		if err != nil || len(entries) == 0 {
			return out, err
		}
		for _, e := range entries {
			before = e.Index
			record, err := auditlog.ArchiveOf(e)
			if err != nil {
				return nil, err
			}
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				return nil, err
			}
			out = append(out, archiving{record, e.ID, event.Recorded})
		}
	}
}
