package cosign

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"interlock/internal/witness"
)

// The bounds of a request.
const (
	MaxProof   = 63       // hashes of a consistency proof: a log has no more than 2^63 entries
	MaxRequest = 64 << 10 // bytes: a proof is at most 3 KiB, the rest is a checkpoint and its signatures
)

// A Request asks a witness to cosign a checkpoint, and shows that it goes on from the size the witness has seen.
type Request struct {
	Old        int64
	Proof      witness.Proof
	Checkpoint []byte // a signed note
}

// Append writes a request as it is sent.
func (r *Request) Append(dst []byte) []byte {
	dst = append(dst, "old "...)
	dst = strconv.AppendInt(dst, r.Old, 10)
	dst = append(dst, '\n')
	for i := range r.Proof {
		dst = append(base64.StdEncoding.AppendEncode(dst, r.Proof[i][:]), '\n')
	}
	return append(append(dst, '\n'), r.Checkpoint...)
}

// ParseRequest reads a request. It takes what Append writes and nothing else, so that there is one form of each request.
func ParseRequest(body []byte) (Request, error) {
	var r Request
	if len(body) > MaxRequest {
		return r, errors.New("the request is longer than 64 KiB")
	}
	head, checkpoint, found := bytes.Cut(body, []byte("\n\n"))
	if !found || len(checkpoint) == 0 {
		return r, errors.New("the request has no empty line before its checkpoint")
	}
	lines := strings.Split(string(head), "\n")
	size, named := strings.CutPrefix(lines[0], "old ")
	old, ok := parseSize(size)
	if !named || !ok {
		return r, errors.New("the first line has to be \"old\", a space and a size")
	}
	if len(lines)-1 > MaxProof {
		return r, errors.New("a consistency proof has at most 63 hashes")
	}
	r.Old, r.Checkpoint = old, checkpoint
	for _, line := range lines[1:] {
		hash, ok := parseHash(line)
		if !ok {
			return r, errors.New("each line of the proof has to be one hash in base64")
		}
		r.Proof = append(r.Proof, hash)
	}
	return r, nil
}

// parseSize reads a size as it is written once: no sign, no leading zero.
func parseSize(text string) (int64, bool) {
	size, err := strconv.ParseInt(text, 10, 64)
	return size, err == nil && size >= 0 && strconv.FormatInt(size, 10) == text
}

func parseHash(text string) (hash [sha256.Size]byte, ok bool) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != sha256.Size || base64.StdEncoding.EncodeToString(raw) != text {
		return hash, false
	}
	return [sha256.Size]byte(raw), true
}

// parseHead reads the text of a checkpoint, C2SP tlog-checkpoint: origin, size, root, and lines that extend it, which are the log's
// own matter. It looks at no signature.
func parseHead(text string) (witness.Head, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[0] == "" || lines[len(lines)-1] != "" {
		return witness.Head{}, errors.New("a checkpoint has three lines at least: origin, size and root")
	}
	size, ok := parseSize(lines[1])
	if !ok {
		return witness.Head{}, errors.New("the checkpoint's size is not a number")
	}
	root, ok := parseHash(lines[2])
	if !ok {
		return witness.Head{}, errors.New("the checkpoint's root is not a hash")
	}
	return witness.Head{Origin: lines[0], Size: size, Root: root}, nil
}
