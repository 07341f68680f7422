package auditlog

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"interlock"
)

// proofHeader is the first line of a C2SP tlog-proof.
const proofHeader = "c2sp.org/tlog-proof@v1"

// maxProof bounds what is read as a proof: 63 hashes, an extra line and a checkpoint with witnesses fit easily.
const maxProof = 64 << 10

// A Proof shows that one entry is in a log whose head was signed. It is complete: the log's public key and the
// event's bytes are all that is needed beside it.
type Proof struct {
	Index  int64
	Hashes [][32]byte
	Signed []byte // the signed checkpoint
}

// Prove makes the proof of the entry at index under a signed checkpoint of the log.
func Prove(ctx context.Context, rows HashRows, signed []byte, index int64) (Proof, error) {
	checkpoint, err := unverified(signed)
	if err != nil {
		return Proof{}, fmt.Errorf("auditlog: %w", err)
	}
	hashes, err := ProveInclusion(ctx, rows, checkpoint.Size, index)
	if err != nil {
		return Proof{}, err
	}
	return Proof{Index: index, Hashes: hashes, Signed: signed}, nil
}

// Text renders the proof as a C2SP tlog-proof file.
func (p Proof) Text() []byte {
	var text strings.Builder
	text.WriteString(proofHeader + "\nindex " + strconv.FormatInt(p.Index, 10) + "\n")
	for i := range p.Hashes {
		text.WriteString(base64.StdEncoding.EncodeToString(p.Hashes[i][:]) + "\n")
	}
	text.WriteString("\n")
	text.Write(p.Signed)
	return []byte(text.String())
}

// ParseProof reads a tlog-proof file. An extra line is accepted and ignored: nothing vouches for it.
func ParseProof(text []byte) (Proof, error) {
	bad := func(what string) (Proof, error) {
		return Proof{}, interlock.Errorf(interlock.CodeInvalid, "proof", "this is not a tlog-proof: %s", what)
	}
	if len(text) > maxProof {
		return bad("it is too long")
	}
	head, signed, found := strings.Cut(string(text), "\n\n")
	if !found {
		return bad("it has no checkpoint")
	}
	lines := strings.Split(head, "\n")
	if lines[0] != proofHeader {
		return bad("its first line is not " + proofHeader)
	}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		if _, err := base64.StdEncoding.Strict().DecodeString(lines[0][len("extra "):]); err != nil {
			return bad("its extra line is not base64")
		}
		lines = lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return bad("it has no index line")
	}
	number := lines[0][len("index "):]
	index, err := strconv.ParseInt(number, 10, 64)
	if err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return bad("its index is not a number")
	}
	lines = lines[1:]
	if len(lines) > 63 {
		return bad("it has too many hashes")
	}
	p := Proof{Index: index, Hashes: make([][32]byte, len(lines)), Signed: []byte(signed)}
	for i, line := range lines {
		raw, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(raw) != hashSize {
			return bad("a line of it is not a hash")
		}
		copy(p.Hashes[i][:], raw)
	}
	return p, nil
}

// Check verifies, with nothing but the log's public key, that the event is in the signed log where the proof says,
// and returns the checkpoint that covers it.
func (p Proof) Check(key *PublicKey, body []byte) (Checkpoint, error) {
	checkpoint, err := key.OpenCheckpoint(p.Signed)
	if err != nil {
		return Checkpoint{}, err
	}
	if _, err := ParseEvent(body); err != nil {
		return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "event", "this is not an event: %s", err)
	}
	if p.Index >= checkpoint.Size || tlog.CheckRecord(treeHashes(p.Hashes), checkpoint.Size, checkpoint.Root, p.Index,
		tlog.RecordHash(body)) != nil {
		return Checkpoint{}, interlock.Errorf(interlock.CodeInvalid, "proof",
			"the proof does not hold: this event is not entry %d of the signed log", p.Index)
	}
	return checkpoint, nil
}
