package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"interlock"
	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/store"
	"interlock/internal/strictjson"
)

// auditCommand reads the log. Nothing here but archive needs the private key or writes to the store.
type auditCommand struct {
	List       auditListCommand       `cmd:"" help:"List the newest events, newest first."`
	Show       auditShowCommand       `cmd:"" help:"Print one event, byte for byte."`
	Verify     auditVerifyCommand     `cmd:"" help:"Read the whole log and prove it sound, or name the first entry that is not."`
	Checkpoint auditCheckpointCommand `cmd:"" help:"Print the newest signed head; keep it elsewhere to find a cut log later."`
	Prove      auditProveCommand      `cmd:"" help:"Print a receipt: the proof that one event is in the signed log."`
	CheckProof auditCheckProofCommand `cmd:"" name:"check-proof" help:"Check a receipt offline, with the public key and the event."`
	Export     auditExportCommand     `cmd:"" help:"Write the log as JSON lines, CloudEvents or OCSF."`
	Archive    auditArchiveCommand    `cmd:"" help:"Move old entries, and what they were decided from, into files that prove themselves."`
}

// auditStore opens the store for reading.
func (p *program) auditStore() (*store.Store, string, error) {
	c, err := p.settings()
	if err != nil {
		return nil, "", err
	}
	opened, err := store.Open(c.Home, store.Options{ReadOnly: true})
	if err != nil {
		return nil, "", err
	}
	return opened, c.Home, nil
}

// publicKey reads a log's public key: the file named, or the home's own.
func (p *program) publicKey(file string) (*auditlog.PublicKey, error) {
	if file == "" {
		c, err := p.settings()
		if err != nil {
			return nil, err
		}
		file = embedded.PublicKeyPath(c.Home)
	}
	text, err := fileio.Read(file, 4096)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--key", "the log's public key can't be read: %s", fileio.Reason(err))
	}
	return auditlog.ParsePublicKey(string(text))
}

type auditListCommand struct {
	Type  string `help:"Only events of this type, e.g. SAFETY_BLOCK_EVENT." placeholder:"TYPE"`
	Limit int    `help:"How many." default:"20" placeholder:"N"`
	JSON  bool   `name:"json" help:"One JSON line per event: the event's bytes and its index."`
}

// Run lists events.
func (c *auditListCommand) Run(p *program) error {
	if c.Limit < 1 || c.Limit > 100000 {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--limit", "is 1 to 100000"))
	}
	if types := interlock.EventTypes(); c.Type != "" && !slices.Contains(types, interlock.EventType(c.Type)) {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--type", "%.40q is not known; name one of %v", c.Type, types))
	}
	store, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	entries, err := store.Recent(p.ctx, interlock.EventType(c.Type), -1, c.Limit)
	if err != nil {
		return err
	}
	for _, e := range entries {
		line := ""
		if c.JSON {
			e.Checkpoint = nil
			line = string(auditlog.AppendLine(nil, e))
		} else {
			line = auditLine(e)
		}
		if _, err := io.WriteString(p.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// auditLine is one event for a reader: index, time, type, actor, event id.
func auditLine(e interlock.Entry) string {
	if auditlog.Released(&e) {
		return fmt.Sprintf("%8d  %-20s  %-22s %-16s %s\n", e.Index, "archived", e.Type, "", e.ID)
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return fmt.Sprintf("%8d  damaged: %s\n", e.Index, err)
	}
	return fmt.Sprintf("%8d  %s  %-22s %-16q %s\n", e.Index, event.Recorded.Format("2006-01-02T15:04:05Z"), event.Type,
		event.Actor, event.ID)
}

type auditShowCommand struct {
	Event string `arg:"" help:"Event id or index."`
	archiveFlags
}

// Run prints one event.
func (c *auditShowCommand) Run(p *program) error {
	store, entry, err := p.auditEntry(c.Event)
	if err != nil {
		return err
	}
	defer store.Close()
	if auditlog.Released(&entry) {
		if err := c.fetch(p, store, &entry); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", entry.Body)
	return err
}

// fetch gives an archived entry its content back, or says where it is.
func (c *auditShowCommand) fetch(p *program, log store.Log, entry *interlock.Entry) error {
	key, err := p.publicKey("")
	if err != nil {
		return err
	}
	archives, err := c.archives(p, key)
	if err != nil {
		return err
	}
	found := false
	if archives != nil {
		found, err = archives.Fill(entry, false)
	}
	if err == nil && !found {
		err = gone(p.ctx, log, entry.Index)
	}
	if leaf := auditlog.LeafHash(entry.Body); err == nil && !bytes.Equal(leaf[:], entry.Hashes[:len(leaf)]) {
		err = interlock.Errorf(interlock.CodeInvalid, "--archive", "the archive is sound, and is not that of this log")
	}
	return err
}

// auditEntry opens the log and finds an entry in it. The caller closes the store.
func (p *program) auditEntry(name string) (*store.Store, interlock.Entry, error) {
	store, _, err := p.auditStore()
	if err != nil {
		return nil, interlock.Entry{}, err
	}
	entry, err := p.entry(store, name)
	if err != nil {
		store.Close()
		return nil, entry, err
	}
	return store, entry, nil
}

// entry finds an entry by its index or its event id.
func (p *program) entry(log store.Log, name string) (interlock.Entry, error) {
	var entry interlock.Entry
	var found bool
	index, err := strconv.ParseInt(name, 10, 64)
	if err == nil && index >= 0 && len(name) < 20 {
		entry, found, err = log.EntryAt(p.ctx, index)
	} else {
		entry, found, err = log.EntryByID(p.ctx, name)
	}
	if err == nil && !found {
		err = interlock.Errorf(interlock.CodeNotFound, "event", "the log has no event %.80q", name)
	}
	return entry, err
}

type auditVerifyCommand struct {
	Key        string   `help:"The log's public key. Default: log.pub in the home directory; better, a copy kept elsewhere." type:"path" placeholder:"FILE"`
	Checkpoint []string `help:"A checkpoint or receipt kept elsewhere that the log must contain; may be given more than once." type:"path" placeholder:"FILE"`
	From       string   `help:"An exported copy instead of the store: a directory or a file of JSON lines." type:"path" placeholder:"PATH"`
	JSON       bool     `name:"json" help:"Print one JSON object."`
	archiveFlags
}

// Help is what `interlock audit verify --help` adds.
func (auditVerifyCommand) Help() string {
	return "Every entry is read. Exit status: 0 the log is sound, 1 it is not or can't be read; the first bad entry is named.\n" +
		"A log that was cut back to an earlier signed state is sound in itself: only a checkpoint kept elsewhere tells. Those\n" +
		"that hooks left beside the harnesses' settings are held against the store without being named."
}

// Run verifies the log.
func (c *auditVerifyCommand) Run(p *program) error {
	key, err := p.copyKey(c.Key, c.From)
	if err != nil {
		return err
	}
	var options auditlog.VerifyOptions
	for _, file := range c.Checkpoint {
		signed, err := readCheckpoint(file)
		if err != nil {
			return err
		}
		options.Earlier = append(options.Earlier, signed)
	}
	if c.From == "" {
		options.Earlier = append(options.Earlier, p.keptCheckpoints(key)...)
	}
	source, closeSource, err := p.auditSource(c.From, c.Archive...)
	if err != nil {
		return err
	}
	defer closeSource()
	log, isStore := source.(store.Log)
	if source, options.Before, err = c.whole(p, source, key); err != nil {
		return err
	}
	report, err := auditlog.Verify(p.ctx, source, key, options)
	if err != nil {
		return err
	}
	err = c.print(p, report, key)
	if isStore && report.Problem != nil && !c.JSON {
		c.apart(p, log, key)
	}
	return err
}

// apart says which entries two histories disagree on, where a log contradicts what hooks have seen of it.
func (c *auditVerifyCommand) apart(p *program, log store.Log, key *auditlog.PublicKey) {
	apart, err := p.histories(p.ctx, log, key)
	for _, one := range apart {
		fmt.Fprintf(p.stderr, "interlock: %s\n", one)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "interlock: what hooks have kept could not be held against it: %s\n", err)
	}
}

// whole is what is verified: the store with the archives that were named, or an archive by itself, every file of
// which is checked.
func (c *auditVerifyCommand) whole(p *program, source auditlog.Source,
	key *auditlog.PublicKey) (whole auditlog.Source, bare int64, err error) {
	switch s := source.(type) {
	case *store.Store:
		whole, err = c.joined(p, s, key)
		return whole, 0, err
	case archive.Alone:
		if err := s.Check(p.ctx, key); err != nil {
			return nil, 0, err
		}
		return s, s.Whole(), nil
	}
	return source, 0, nil
}

func (c *auditVerifyCommand) print(p *program, report auditlog.Report, key *auditlog.PublicKey) error {
	var verdict interlock.EventType
	if report.Problem != nil {
		verdict = interlock.EventIntegrity
	}
	if c.JSON {
		line, err := strictjson.Marshal(struct {
			auditlog.Report
			Sound bool                `json:"sound"`
			Error interlock.EventType `json:"error,omitempty"` // MACE's name for a log that does not verify
			Key   string              `json:"key_id"`
		}{report, report.Problem == nil, verdict, key.ID()})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "%s\n", line); err != nil {
			return err
		}
		if report.Problem != nil {
			return &exitCode{code: 1}
		}
		return nil
	}
	if report.Problem != nil {
		return fmt.Errorf("%s: the log is not sound after %d good entries: %w", interlock.EventIntegrity,
			report.Entries, report.Problem)
	}
	_, err := fmt.Fprintf(p.stdout, "the log is sound: %d entries of %d runs, %d with a signature of their own, under a head signed by %s\n",
		report.Entries, report.Runs, report.Signed, key.ID())
	if err == nil && report.Released > 0 {
		_, err = fmt.Fprintf(p.stdout, "%d of them are archived: their hashes are sound, and --archive DIR reads what they say\n",
			report.Released)
	}
	return err
}

// auditSource opens what is to be verified: the store, or an exported copy.
//
// To a store, archives are joined later; to an archive they are its other directories.
func (p *program) auditSource(from string, archives ...string) (auditlog.Source, func() error, error) {
	if from == "" {
		store, _, err := p.auditStore()
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	if archive.Is(from) {
		all, err := archive.Open(append([]string{from}, archives...)...)
		if err != nil {
			return nil, nil, err
		}
		return all.Alone(), func() error { return nil }, nil
	}
	if len(archives) > 0 {
		return nil, nil, usage(interlock.Errorf(interlock.CodeInvalid, "--archive",
			"goes with a store or another archive; an exported copy holds what was archived"))
	}
	file, checkpoint := from, ""
	info, err := os.Stat(from)
	if err != nil {
		return nil, nil, interlock.Errorf(interlock.CodeNotFound, "--from", "the copy can't be read: %s", fileio.Reason(err))
	}
	if info.IsDir() {
		file, checkpoint = filepath.Join(from, exportedEvents), filepath.Join(from, exportedCheckpoint)
	}
	source := auditlog.Copy{Open: func() (io.ReadCloser, error) { return os.Open(file) }}
	if checkpoint != "" {
		if source.Checkpoint, err = readCheckpoint(checkpoint); err != nil {
			return nil, nil, err
		}
	}
	return source, func() error { return nil }, nil
}

// copyKey reads the key for a copy: the one named, the one in the copy's directory, or the home's.
func (p *program) copyKey(file, from string) (*auditlog.PublicKey, error) {
	if file == "" && from != "" {
		if beside := filepath.Join(from, exportedKey); exists(beside) {
			file = beside
		}
	}
	return p.publicKey(file)
}

type auditCheckpointCommand struct{}

// Run prints the newest signed head.
func (auditCheckpointCommand) Run(p *program) error {
	store, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	head, err := store.Head(p.ctx)
	if err != nil {
		return err
	}
	if len(head.Checkpoint) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "", "the log is empty and has no checkpoint yet")
	}
	_, err = p.stdout.Write(head.Checkpoint)
	return err
}

// readCheckpoint reads a signed checkpoint from a file that holds one, or a receipt, which ends in one.
func readCheckpoint(file string) ([]byte, error) {
	text, err := fileio.Read(file, 64<<10)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--checkpoint", "the checkpoint can't be read: %s", fileio.Reason(err))
	}
	if proof, err := auditlog.ParseProof(text); err == nil {
		return proof.Signed, nil
	}
	return text, nil
}
