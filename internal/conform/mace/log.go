package mace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/conform"
	"interlock/internal/fileio"
)

func logChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-1-3", "MACE-SIG-1", "MACE-ID-1", "MACE-ID-3", "MACE-LOG-2", "MACE-CAN-1"},
			Drives: "interlock audit export, recomputed",
			Do:     recomputed},
		{IDs: []string{"MACE-SIG-3"}, Drives: "interlock audit verify over a copy without a signature", Do: unsignedRefused},
		{IDs: []string{"MACE-ID-2", "MACE-SNAP-1"}, Drives: "interlock audit export, recomputed", Do: snapshotIDs},
		{IDs: []string{"MACE-ID-4"}, Drives: "HTTP API, log", Do: seeds},
		{IDs: []string{"MACE-LOG-1", "MACE-12-7", "MACE-10-3"}, Drives: "interlock audit verify over a store that was changed, log",
			Do: tampered},
	}
}

// maxFile bounds what is read of a copy.
const maxFile = 256 << 20

// copied is a copy of the town's log with what was decided on, in a new directory.
func (t town) copied(ctx context.Context, name string) (dir string, err error) {
	dir = filepath.Join(filepath.Dir(t.Home), name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	said := t.CLI(ctx, "", "audit", "export", "--output", dir, "--inputs")
	return dir, conform.Unless(said.Code == 0, "the log can't be exported: %s", said.Err)
}

// lines are those of a file of a copy.
func lines(dir, name string) ([][]byte, error) {
	text, err := fileio.Plain(filepath.Join(dir, name), maxFile)
	if err != nil {
		return nil, err
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n")), nil
}

// write puts a file of a copy in place of what it was.
func write(dir, name string, all [][]byte) error {
	return os.WriteFile(filepath.Join(dir, name), append(bytes.Join(all, []byte("\n")), '\n'), 0o600)
}

// edited is a copy in which a file's lines are others. The edit is a fault unless it changes something.
func (t town) edited(ctx context.Context, name, file string, edit func(line []byte) []byte) (dir string, err error) {
	dir, err = t.copied(ctx, name)
	if err != nil {
		return "", err
	}
	all, err := lines(dir, file)
	if err != nil {
		return "", err
	}
	var kept [][]byte
	changed := false
	for _, line := range all {
		other := edit(line)
		changed = changed || !bytes.Equal(other, line)
		if other != nil {
			kept = append(kept, other)
		}
	}
	return dir, conform.First(conform.Unless(changed, "there was nothing to change in %s", file), write(dir, file, kept))
}

// signed are the types of events that are signed one by one, of those that these checks cause.
var signed = strings.Fields("SAFETY_BLOCK_EVENT SAFETY_REVIEW_REQUEST REDACTION_EVENT PII_FLAGGED SAFETY_OVERRIDE ALERT ACTION_REQUEST " +
	"COUNCIL_VOTE ACTION_REQUEST_STATUS executed_event SYSTEM_PAUSE SYSTEM_RESUME IDENTITY_CHANGE PII_CONSENT admin_access_event deletion_manifest " +
	"sem_put sem_delete NODE_DEGRADED NODE_OFFLINE EMERGENCY_REVIEW")

// busy has events of every kind that the clauses name stand in the log.
func (t town) busy(ctx context.Context) error {
	for _, text := range []string{harmful, cardText, ordering} {
		t.classify(ctx, text)
	}
	t.handle(ctx, "u-1", "r1")
	_, paused := t.Order(ctx, "adam", "hold", "pause", "--reason", "a look")
	_, resumed := t.Order(ctx, "adam", "hold", "resume", "--reason", "looked")
	_, asked := t.given(ctx, "code_upload", "agent:scout", "version 1")
	return conform.First(paused, resumed, asked)
}

func recomputed(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.busy(ctx); err != nil {
		return "", err
	}
	dir, err := t.copied(ctx, "copy")
	if err != nil {
		return "", err
	}
	all, err := lines(dir, "events.jsonl")
	if err != nil {
		return "", err
	}
	previous, sequences, kinds := strings.Repeat("0", 64), map[string]int64{}, map[string]bool{}
	for n, line := range all {
		var at struct {
			Event json.RawMessage `json:"event"`
		}
		var e event
		if err := errors.Join(json.Unmarshal(line, &at), json.Unmarshal(at.Event, &e)); err != nil {
			return "", fmt.Errorf("entry %d: %w", n, err)
		}
		sequences[e.Seed]++
		kinds[e.Type] = true
		id := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%s", e.Seed, e.Sequence, e.Type))
		content := sha256.Sum256(e.Payload)
		if err := conform.First(canonical(at.Event),
			conform.Unless(e.ID == hex.EncodeToString(id[:]), "its id is %s, and its seed, index and type make %x", e.ID, id),
			conform.Unless(e.Sequence == sequences[e.Seed], "its index is %d, and it is number %d of its seed", e.Sequence,
				sequences[e.Seed]),
			conform.Unless(e.Content == "sha256:"+hex.EncodeToString(content[:]), "its content's hash is another"),
			conform.Unless(e.Previous == "sha256:"+previous, "it names another predecessor"),
			conform.Unless(!slices.Contains(signed, e.Type) || e.Signature != "" && e.Key != "",
				"it has no signature that names its key")); err != nil {
			return "", fmt.Errorf("entry %d, %s: %w", n, e.Type, err)
		}
		leaf := sha256.Sum256(append([]byte{0}, at.Event...))
		previous = hex.EncodeToString(leaf[:])
	}
	had := 0
	for _, kind := range signed {
		if kinds[kind] {
			had++
		}
	}
	return fmt.Sprintf("%d entries of %d types: each id, index, hash of content and of the predecessor comes out the same, each is canonical, and "+
			"%d types of safety and governance events are signed one by one", len(all), len(kinds), had),
		conform.Unless(had >= 10, "only %d types of events that have to be signed are in the log: %v", had,
			slices.Sorted(maps.Keys(kinds)))
}

// canonical is a fault unless a JSON object is written with its keys sorted and without white space.
func canonical(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	out := []byte("{")
	for n, name := range slices.Sorted(maps.Keys(members)) {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), name...), `":`...), members[name]...)
		if value := members[name]; len(value) > 0 && value[0] == '{' {
			if err := canonical(value); err != nil {
				return err
			}
		}
	}
	return conform.Unless(bytes.Equal(append(out, '}'), text), "an object is not in canonical form")
}

func unsignedRefused(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	done := false
	dir, err := t.edited(ctx, "unsigned", "events.jsonl", func(line []byte) []byte {
		at := bytes.Index(line, []byte(`"signature":"`))
		if done || at < 0 || !bytes.Contains(line, []byte(`"event_type":"COUNCIL_VOTE"`)) {
			return line
		}
		done = true
		rest := line[at+len(`"signature":"`):]
		return append(bytes.Clone(line[:at]), rest[bytes.IndexByte(rest, ',')+1:]...)
	})
	if err != nil {
		return "", err
	}
	said := t.CLI(ctx, "", "audit", "verify", "--from", dir)
	return "a log in which a vote has lost its signature is refused", conform.Unless(said.Code != 0 && strings.Contains(said.Err,
		"INTEGRITY_FAILURE"),
		"it ends with %d: %s", said.Code, said.Out+said.Err)
}

// A snapshot is what a manifest says of one.
type snapshot struct {
	ID     string `json:"id"`
	Config string `json:"config_hash"`
	Schema string `json:"schema_version"`
	Names  string `json:"seed_namespace"`
}

// declared are the snapshots that the manifests in a copy of the log name, each with an id that is made of what it says.
func (t town) declared(ctx context.Context, copy string) (names []string, err error) {
	dir, err := t.copied(ctx, copy)
	if err != nil {
		return nil, err
	}
	all, err := lines(dir, "inputs.jsonl")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, line := range all {
		var blob struct {
			Text []byte `json:"text"`
		}
		var manifest struct {
			Schema    string              `json:"schema"`
			Snapshots map[string]snapshot `json:"snapshots"`
		}
		if json.Unmarshal(line, &blob) != nil || json.Unmarshal(blob.Text, &manifest) != nil ||
			manifest.Schema != "interlock.manifest/v1" {
			continue
		}
		for name, s := range manifest.Snapshots {
			id := sha256.Sum256([]byte(s.Config + ":" + s.Schema + ":" + s.Names))
			if s.ID != hex.EncodeToString(id[:]) {
				return nil, fmt.Errorf("the snapshot of %s is %s, and what it is made of comes to %x", name, s.ID, id)
			}
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

func snapshotIDs(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	ran, err := t.Expect(ctx, "scout", conform.Shell("cat snapshot-ids"), "allow")
	if err != nil {
		return "", err
	}
	names, err := t.declared(ctx, "snapshots")
	if err != nil {
		return "", err
	}
	named := conform.Reply{Text: t.Event(ctx, ran.Event)}.Member("snapshot_ids")
	return "a job's event names what it was decided under, and the ids of the snapshots " + strings.Join(names, ", ") +
			" are the SHA-256 of what they are made of: " + ran.Event, conform.First(
			conform.Unless(len(names) >= 4 && slices.Contains(names, "ruleset"), "the manifests name %v", names),
			conform.Unless(strings.Contains(named, "inputs") && strings.Contains(named, "ruleset"), "the event names %s", named))
}

func seeds(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if err := t.Agents(ctx, "other"); err != nil {
		return "", err
	}
	seed := func(agent string) string {
		got := t.Decide(ctx, agent, conform.Shell("ls").In("0123456789abcdef0123456789abcdef"))
		return conform.Reply{Text: t.Event(ctx, got.Event)}.Member("job_seed")
	}
	one, again, other := seed("scout"), seed("scout"), seed("other")
	return "two agents that name one run have a seed each, and it is not what they named",
		conform.Unless(one != "" && one == again && one != other && one != "0123456789abcdef0123456789abcdef", "%s, %s and %s", one,
			again, other)
}

func tampered(ctx context.Context, d *conform.Driver) (string, error) {
	h, err := d.House(ctx, conform.Plan{Name: "mace-tampered"})
	if err != nil {
		return "", err
	}
	t := town{h}
	if err := t.Agents(ctx, "scout"); err != nil {
		return "", err
	}
	if _, err := t.Expect(ctx, "scout", conform.Shell("cat heron.txt"), "allow"); err != nil {
		return "", err
	}
	daily := t.CLI(ctx, "", "audit", "verify", "--record")
	summary := t.newest(ctx, "INTEGRITY_CHECK_SUMMARY", "")
	said, err := t.flipped(ctx, summary)
	if err != nil {
		return "", err
	}
	failure, told := t.newest(ctx, "INTEGRITY_FAILURE", ""), t.newest(ctx, "ALERT", "entry")
	return "the check that runs daily is recorded, and after a change in the store it fails: " + summary.by() + ", " + failure.by() +
			", " + told.by(),
		conform.First(summary.is("INTEGRITY_CHECK_SUMMARY"), failure.is("INTEGRITY_FAILURE"), told.is("ALERT"),
			conform.Unless(daily.Code == 0, "the daily check says %s", daily.Err),
			conform.Unless(said.Code != 0 && strings.Contains(said.Err, "INTEGRITY_FAILURE"), "verify ends with %d: %s", said.Code,
				said.Out+said.Err))
}

// flipped changes a bit of the hash that the store keeps of the entry before an event, and has the log verified.
func (t town) flipped(ctx context.Context, e event) (said conform.Said, err error) {
	t.Down()
	hash, err := hex.DecodeString(strings.TrimPrefix(e.Previous, "sha256:"))
	if err != nil || len(hash) == 0 {
		return said, fmt.Errorf("an event names the entry before it as %q", e.Previous)
	}
	file := filepath.Join(t.Home, "interlock.db")
	text, err := fileio.Plain(file, maxFile)
	if err != nil {
		return said, err
	}
	at := bytes.Index(text, hash)
	if at < 0 {
		return said, fmt.Errorf("the store does not hold the hash %s", e.Previous)
	}
	text[at] ^= 1
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return said, err
	}
	return t.CLI(ctx, "", "audit", "verify"), nil
}
