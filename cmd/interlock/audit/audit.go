// Package audit holds the commands about what was recorded: the log and its proofs, copies, archives and witnesses, decisions
// made again, what a day came to, holds and reports.
package audit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/fileio"
	"interlock/internal/ledger"
	"interlock/internal/store"
	"interlock/internal/strictjson"
)

// AuditCommand reads the log. Nothing here but archive and mend needs the private key or writes to the store.
type AuditCommand struct {
	List       auditListCommand       `cmd:"" help:"List the newest events, newest first."`
	Show       auditShowCommand       `cmd:"" help:"Show one event; into a file or a pipe byte for byte."`
	Access     auditAccessCommand     `cmd:"" help:"Read one event whole, by an order that is recorded."`
	Verify     auditVerifyCommand     `cmd:"" help:"Read the whole log and prove it sound, or name the first entry that is not."`
	Checkpoint auditCheckpointCommand `cmd:"" help:"Print the newest signed head; keep it elsewhere to find a cut log later."`
	Prove      auditProveCommand      `cmd:"" help:"Print a receipt: the proof that one event is in the signed log."`
	CheckProof auditCheckProofCommand `cmd:"" name:"check-proof" help:"Check a receipt offline, with the public key and the event."`
	Export     auditExportCommand     `cmd:"" help:"Write the log as JSON lines, CloudEvents or OCSF."`
	Mend       auditMendCommand       `cmd:"" help:"Show how to put right what somebody else did beside the log, and have it done by a signed order."`
	Archive    auditArchiveCommand    `cmd:"" help:"Move old entries, and what they were decided from, into files that prove themselves."`
}

// publicKey reads a log's public key: the file named, or the home's own.
func publicKey(p *cli.Program, file string) (*auditlog.PublicKey, error) {
	if file == "" {
		c, err := p.Settings()
		if err != nil {
			return nil, err
		}
		file = embedded.PublicKeyPath(c.Home)
	}
	text, err := fileio.Plain(file, 4096)
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
func (c *auditListCommand) Run(p *cli.Program) error {
	if c.Limit < 1 || c.Limit > 100000 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--limit", "is 1 to 100000"))
	}
	if types := interlock.EventTypes(); c.Type != "" && !slices.Contains(types, interlock.EventType(c.Type)) {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--type", "%.40q is not known; name one of %v", c.Type, types))
	}
	store, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	entries, err := store.Entries(p.Ctx, interlock.EventType(c.Type), ledger.Before(-1, c.Limit))
	if err != nil {
		return err
	}
	if !c.JSON {
		s := p.Screen()
		auditTable(s, entries, cli.Now()).Print(s)
		return s.Show()
	}
	for _, e := range entries {
		e.Checkpoint = nil
		if _, err := p.Stdout.Write(auditlog.AppendLine(nil, e)); err != nil {
			return err
		}
	}
	return nil
}

type auditShowCommand struct {
	Event string `arg:"" help:"Event id or index."`
	JSON  bool   `name:"json" help:"The event's own bytes at a terminal too, as they are everywhere else." xor:"form"`
	Text  bool   `help:"For a reader everywhere else too, as it is at a terminal." xor:"form"`
	ArchiveFlags
}

// Help is what `interlock audit show --help` adds.
func (auditShowCommand) Help() string {
	return "At a terminal it shows the event to a reader. Into a file or a pipe it writes the event's own bytes, which are what is hashed and\n" +
		"what check-proof takes."
}

// Run prints one event.
func (c *auditShowCommand) Run(p *cli.Program) error {
	store, entry, err := auditEntry(p, c.Event)
	if err != nil {
		return err
	}
	defer store.Close()
	if auditlog.Released(&entry) {
		if err := c.fetch(p, store, &entry); err != nil {
			return err
		}
	}
	if s := p.Screen(); c.Text || s.Terminal && !c.JSON {
		if err := printEvent(s, entry, cli.Now()); err != nil {
			return err
		}
		return s.Show()
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", entry.Body)
	return err
}

// fetch gives an archived entry its content back, or says where it is.
func (c *auditShowCommand) fetch(p *cli.Program, log store.Log, entry *interlock.Entry) error {
	key, err := publicKey(p, "")
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
		err = gone(p.Ctx, log, entry.Index)
	}
	if leaf := auditlog.LeafHash(entry.Body); err == nil && !bytes.Equal(leaf[:], entry.Hashes[:len(leaf)]) {
		err = interlock.Errorf(interlock.CodeInvalid, "--archive", "the archive is sound, and is not that of this log")
	}
	return err
}

// auditEntry opens the log and finds an entry in it. The caller closes the store.
func auditEntry(p *cli.Program, name string) (*store.Store, interlock.Entry, error) {
	store, _, err := p.AuditStore()
	if err != nil {
		return nil, interlock.Entry{}, err
	}
	entry, err := auditlog.Named(p.Ctx, store, name)
	if err != nil {
		store.Close()
		return nil, entry, err
	}
	return store, entry, nil
}

type auditVerifyCommand struct {
	Key        string   `help:"The log's public key. Default: log.pub in the home directory; better, a copy kept elsewhere." type:"path" placeholder:"FILE"`
	Checkpoint []string `help:"A checkpoint or receipt kept elsewhere that the log must contain; may be given more than once." type:"path" placeholder:"FILE"`
	Cosigned   int      `help:"Require that so many witnesses have cosigned a head of the log." placeholder:"N"`
	Witness    []string `help:"A witness's public key, or a file with it. May be repeated. Default: those of the settings." placeholder:"KEY"`
	From       string   `help:"An exported copy instead of the store: a directory or a file of JSON lines." type:"path" placeholder:"PATH"`
	JSON       bool     `name:"json" help:"Print one JSON object."`
	Record     bool     `help:"Check as a running server does daily, and append what was found to the log."`
	ArchiveFlags
}

// Help is what `interlock audit verify --help` adds.
func (auditVerifyCommand) Help() string {
	return "Every entry is read. Exit status: 0 the log is sound, 1 it is not or can't be read; the first bad entry is named.\n" +
		"A log that was cut back to an earlier signed state is sound in itself: only a checkpoint kept elsewhere tells. Those\n" +
		"that hooks left beside the harnesses' settings are held against the store without being named."
}

// Run verifies the log.
func (c *auditVerifyCommand) Run(p *cli.Program) error {
	if c.Record {
		return c.record(p)
	}
	key, err := copyKey(p, c.Key, c.From)
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
		options.Earlier = append(options.Earlier, keptCheckpoints(p, key)...)
	}
	vouched, unvouched, err := c.cosigned(p, &options)
	if err != nil {
		return err
	}
	source, closeSource, err := auditSource(p, c.From, c.Archive...)
	if err != nil {
		return err
	}
	defer closeSource()
	log, isStore := source.(store.Log)
	if source, options.Before, err = c.whole(p, source, key); err != nil {
		return err
	}
	walking := p.Walking("verifying the log", source)
	var inputs inputsCheck
	if recorded, plain := source.(archive.Recording); plain && isStore { // what decisions were made from is looked at in the same reading
		source, options.Sound = recordedSource{recorded}, inputs.entry
	}
	report, err := auditlog.Verify(p.Ctx, cli.WatchedSource{Source: source, Progress: walking}, key, options)
	walking.End()
	if err != nil {
		return err
	}
	var beside besides
	var broken []ledger.HoldBody
	said := ""
	if report.Problem == nil && isStore {
		if beside, err = besideCopy(p, &inputs); err != nil {
			return err
		}
		if broken, said, err = brokenSnapshots(p); err != nil {
			return err
		}
	}
	beside.Cosigned = vouched
	if err = c.print(p, report, key, broken, beside); err == nil {
		err = c.saysVouched(p, vouched, unvouched)
	}
	if isStore && report.Problem != nil && !c.JSON {
		c.apart(p, log, key)
	}
	if isStore && report.Problem != nil {
		noteUnsound(p, report.Problem.Error())
	}
	if err != nil || said == "" || c.JSON {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, said)
	return err
}

// besides is what came of looking at what is kept beside the log.
type besides struct {
	Checked bool     `json:"standing_checked"` // it takes the log's private key, which an auditor need not have
	Wrong   []string `json:"standing_wrong,omitempty"`

	Cosigned *vouching `json:"cosigned,omitempty"` // nil: nobody asked for witnesses
}

// maxWrong bounds how many differences are printed.
const maxWrong = 100

// besideCopy holds what is kept beside the log against its proofs, where the log's private key is at hand.
func besideCopy(p *cli.Program, inputs *inputsCheck) (b besides, err error) {
	c, err := p.Settings()
	if err != nil {
		return b, err
	}
	sealer, err := embedded.LogSealer(c.Home)
	if err != nil {
		return b, nil // and says that it was not checked
	}
	opened, err := store.Open(c.Home, store.Options{ReadOnly: true, Sealer: sealer})
	if err != nil {
		return b, err
	}
	defer opened.Close()
	b.Checked = true
	name := func(wrong *ledger.Tampered) error {
		if len(b.Wrong) < maxWrong {
			b.Wrong = append(b.Wrong, wrong.Name())
		}
		return nil
	}
	if err := opened.CheckStanding(p.Ctx, name); err != nil {
		return b, err
	}
	return b, checkTexts(p.Ctx, opened, inputs, name)
}

// apart says which entries two histories disagree on, where a log contradicts what hooks have seen of it.
func (c *auditVerifyCommand) apart(p *cli.Program, log store.Log, key *auditlog.PublicKey) {
	apart, err := Histories(p.Ctx, p, log, key)
	for _, one := range apart {
		fmt.Fprintf(p.Stderr, "interlock: %s\n", one)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "interlock: what hooks have kept could not be held against it: %s\n", err)
	}
}

// whole is what is verified: the store with the archives that were named, or an archive by itself, every file of
// which is checked.
func (c *auditVerifyCommand) whole(p *cli.Program, source auditlog.Source,
	key *auditlog.PublicKey) (whole auditlog.Source, bare int64, err error) {
	switch s := source.(type) {
	case *store.Store:
		whole, err = c.joined(p, s, key)
		return whole, 0, err
	case archive.Alone:
		if err := s.Check(p.Ctx, key); err != nil {
			return nil, 0, err
		}
		return s, s.Whole(), nil
	}
	return source, 0, nil
}

func (c *auditVerifyCommand) print(p *cli.Program, report auditlog.Report, key *auditlog.PublicKey, broken []ledger.HoldBody,
	beside besides) error {
	var verdict interlock.EventType
	if report.Problem != nil || len(broken)+len(beside.Wrong) > 0 {
		verdict = interlock.EventIntegrity
	}
	if c.JSON {
		line, err := strictjson.Marshal(struct {
			auditlog.Report
			Sound bool                `json:"sound"`
			Error interlock.EventType `json:"error,omitempty"` // MACE's name for a log that does not verify
			Key   string              `json:"key_id"`
			Held  []string            `json:"held,omitempty"` // names of the holds on snapshots that are missing or damaged
			besides
		}{report, report.Problem == nil, verdict, key.ID(), holdNames(broken), beside})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.Stdout, "%s\n", line); err != nil {
			return err
		}
		if verdict != "" {
			return &cli.ExitCode{Code: 1}
		}
		return nil
	}
	if report.Problem != nil {
		return fmt.Errorf("%s: the log is not sound after %d good entries: %w", interlock.EventIntegrity,
			report.Entries, report.Problem)
	}
	_, err := fmt.Fprintf(p.Stdout, "the log is sound: %d entries of %d runs, %d with a signature of their own, under a head signed by %s\n",
		report.Entries, report.Runs, report.Signed, key.ID())
	if err == nil && report.Released > 0 {
		_, err = fmt.Fprintf(p.Stdout, "%d of them are archived: their hashes are sound, and --archive DIR reads what they say\n",
			report.Released)
	}
	if err != nil || c.From != "" {
		return err
	}
	err = beside.print(p.Stdout)
	if len(broken) > 0 { // what stops decisions is said before what is merely not believed, which is listed already
		return fmt.Errorf("%s: %s; it is held as %s; interlock hold list names all", interlock.EventIntegrity,
			broken[0].Why, broken[0].Name())
	}
	return err
}

// print says what was found beside the log.
func (b besides) print(w io.Writer) error {
	if !b.Checked {
		_, err := fmt.Fprintln(w, "what stands beside it was not checked: that takes log.key")
		return err
	}
	if len(b.Wrong) == 0 {
		_, err := fmt.Fprintln(w, "what stands beside it is as Interlock wrote it")
		return err
	}
	for _, wrong := range b.Wrong {
		if _, err := fmt.Fprintln(w, "  "+cli.Printable(wrong)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %d things that stand beside the log are not as Interlock wrote them, and are not believed",
		interlock.EventIntegrity, len(b.Wrong))
}

// auditSource opens what is to be verified: the store, or an exported copy.
//
// To a store, archives are joined later; to an archive they are its other directories.
func auditSource(p *cli.Program, from string, archives ...string) (auditlog.Source, func() error, error) {
	if from == "" {
		store, _, err := p.AuditStore()
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
		return nil, nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--archive",
			"goes with a store or another archive; an exported copy holds what was archived"))
	}
	file, checkpoint := from, ""
	info, err := os.Stat(from)
	if err != nil {
		return nil, nil, interlock.Errorf(interlock.CodeNotFound, "--from", "the copy can't be read: %s", fileio.Reason(err))
	}
	if info.IsDir() {
		file, checkpoint = filepath.Join(from, ExportedEvents), filepath.Join(from, exportedCheckpoint)
	}
	source := auditlog.Copy{Open: func() (io.ReadCloser, error) { return fileio.Open(file) }}
	if checkpoint != "" {
		if source.Checkpoint, err = readCheckpoint(checkpoint); err != nil {
			return nil, nil, err
		}
	}
	return source, func() error { return nil }, nil
}

// copyKey reads the key for a copy: the one named, the one in the copy's directory, or the home's.
func copyKey(p *cli.Program, file, from string) (*auditlog.PublicKey, error) {
	if file == "" && from != "" {
		if beside := filepath.Join(from, exportedKey); cli.Exists(beside) {
			file = beside
		}
	}
	return publicKey(p, file)
}

type auditCheckpointCommand struct{}

// Run prints the newest signed head.
func (auditCheckpointCommand) Run(p *cli.Program) error {
	store, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer store.Close()
	head, err := store.Head(p.Ctx)
	if err != nil {
		return err
	}
	if len(head.Checkpoint) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "", "the log is empty and has no checkpoint yet")
	}
	_, err = p.Stdout.Write(head.Checkpoint)
	return err
}

// readCheckpoint reads a signed checkpoint from a file that holds one, or a receipt, which ends in one.
func readCheckpoint(file string) ([]byte, error) {
	text, err := fileio.Plain(file, 64<<10)
	if err != nil {
		return nil, interlock.Errorf(interlock.CodeNotFound, "--checkpoint", "the checkpoint can't be read: %s", fileio.Reason(err))
	}
	if proof, err := auditlog.ParseProof(text); err == nil {
		return proof.Signed, nil
	}
	return text, nil
}
