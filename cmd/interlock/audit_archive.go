package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

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
func (c *auditArchiveCommand) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	to, before := p.archiveSettings(backend.Settings)
	if c.To != "" {
		to = c.To
	}
	if c.Before != "" {
		if before, err = p.moment("--before", c.Before); err != nil {
			return err
		}
	}
	switch {
	case before.IsZero():
		return usage(interlock.Errorf(interlock.CodeInvalid, "--before", "is missing, and archive_after is not set"))
	case to == "":
		return usage(interlock.Errorf(interlock.CodeInvalid, "--to", "is missing, and archive_to is not set"))
	}
	made, err := backend.Archive(p.ctx, to, before, p.keptCheckpoints(backend.Key))
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, made)
	}
	if made.Event == "" {
		_, err = fmt.Fprintf(p.stdout, "nothing to archive: of the entries from %d on, fewer than %d were recorded before %s\n",
			made.First, auditlog.TileWidth, before.UTC().Format(time.RFC3339))
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "archived the entries from %d to %d with %d inputs and %d texts to %s\n"+
		"%d entries and %d texts have left the store; event %s says so\n", made.First, made.Size-1, made.Inputs, made.Blobs,
		printable(made.To), made.Released, made.Gone, made.Event)
	return err
}

// archiveSettings is what the settings say of it.
func (p *program) archiveSettings(c config.Config) (to string, before time.Time) {
	if c.ArchiveAfter > 0 {
		before = p.now().Add(-time.Duration(c.ArchiveAfter))
	}
	return c.ArchiveTo, before
}

// archiveEvery is how often `interlock up` looks whether something is old enough.
const archiveEvery = time.Hour

// archiveBySettings archives as the settings say, for as long as the server runs. What fails leaves the store as it was, is said
// once for each reason in an ALERT, and is tried again.
func archiveBySettings(ctx context.Context, p *program, backend *embedded.Backend, every time.Duration, logger *slog.Logger) {
	if backend.Settings.ArchiveAfter == 0 {
		return
	}
	said := ""
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		to, before := p.archiveSettings(backend.Settings)
		made, err := backend.Archive(ctx, to, before, p.keptCheckpoints(backend.Key))
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

// archiveFlags name where archived entries are.
type archiveFlags struct {
	Archive []string `help:"A directory with archived entries; may be given more than once." type:"path" placeholder:"DIR"`
}

// archives opens the archives that were named and checks every file of them; nil if none was.
func (f *archiveFlags) archives(p *program, key *auditlog.PublicKey) (*archive.Archives, error) {
	if len(f.Archive) == 0 {
		return nil, nil
	}
	archives, err := archive.Open(f.Archive...)
	if err != nil {
		return nil, err
	}
	return archives, archives.Check(p.ctx, key)
}

// joined is a store with the archives that were named. Each part must be the one that an event of the log names.
func (f *archiveFlags) joined(p *program, opened *store.Store, key *auditlog.PublicKey) (archive.Recording, error) {
	archives, err := f.archives(p, key)
	if err != nil || archives == nil {
		return opened, err
	}
	records, err := archivings(p.ctx, opened)
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
				index, record.at.Format("2006-01-02"), printable(record.To))
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
