package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// A Head is what a checkpoint says of a log: how many entries it had, and the hash of all of them. The zero Head is none.
type Head struct {
	Origin string
	Size   int64
	Root   [32]byte
}

// ParseHead reads the first three lines of a checkpoint. It looks at no signature: the caller has had one checked, or goes by
// a proof.
func ParseHead(checkpoint []byte) (Head, bool) {
	lines := bytes.SplitN(checkpoint, []byte("\n"), 4)
	if len(lines) < 4 || len(lines[0]) == 0 {
		return Head{}, false
	}
	size, err := strconv.ParseInt(string(lines[1]), 10, 64)
	root, bad := base64.StdEncoding.DecodeString(string(lines[2]))
	if err != nil || bad != nil || size < 1 || len(root) != sha256.Size {
		return Head{}, false
	}
	return Head{Origin: string(lines[0]), Size: size, Root: [32]byte(root)}, true
}

// Agrees reports whether a proof shows that two heads are of one log, one being a beginning of the other (RFC 6962, 2.1.2).
func (h Head) Agrees(with Head, proof [][32]byte) bool {
	older, newer := h, with
	if older.Size > newer.Size {
		older, newer = newer, older
	}
	if older.Size < 1 || older.Origin != newer.Origin {
		return false
	}
	if older.Size == newer.Size {
		return len(proof) == 0 && older.Root == newer.Root
	}
	return consistent(older, newer, proof)
}

// consistent follows the path of the older log's last entry up through both trees, as RFC 9162 says in 2.1.4.2.
func consistent(older, newer Head, proof [][32]byte) bool {
	if older.Size&(older.Size-1) == 0 { // its tree is whole, and is in the newer one as it is
		proof = append([][32]byte{older.Root}, proof...)
	}
	if len(proof) == 0 {
		return false
	}
	node, last := older.Size-1, newer.Size-1
	for node&1 == 1 {
		node, last = node>>1, last>>1
	}
	old, whole := proof[0], proof[0]
	for _, hash := range proof[1:] {
		if last == 0 {
			return false
		}
		if node&1 == 1 || node == last {
			old, whole = joined(hash, old), joined(hash, whole)
			for node&1 == 0 && node != 0 {
				node, last = node>>1, last>>1
			}
		} else {
			whole = joined(whole, hash)
		}
		node, last = node>>1, last>>1
	}
	return last == 0 && old == older.Root && whole == newer.Root
}

func joined(left, right [32]byte) [32]byte {
	var text [1 + 2*sha256.Size]byte
	text[0] = 1
	copy(text[1:], left[:])
	copy(text[1+sha256.Size:], right[:])
	return sha256.Sum256(text[:])
}

// Sizes writes the sizes of heads as a request names them; empty where there are none.
func Sizes(heads []Head) string {
	var text []byte
	for i := range heads {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, heads[i].Size, 10)
	}
	return string(text)
}

// MaxSizes is how many sizes a request may name.
const MaxSizes = 2

// ParseSizes reads what Sizes wrote.
func ParseSizes(text string) (sizes []int64, ok bool) {
	if text == "" {
		return nil, false
	}
	for _, field := range strings.SplitN(text, " ", MaxSizes+1) {
		size, err := strconv.ParseInt(field, 10, 64)
		if err != nil || size < 0 || len(sizes) == MaxSizes {
			return nil, false
		}
		sizes = append(sizes, size)
	}
	return sizes, true
}

// A Proof says how two heads are of one log. A nil Proof is one that can't be had, an empty one has nothing to show.
type Proof [][32]byte

// Proofs writes proofs as an answer carries them.
func Proofs(proofs []Proof) string {
	var text []byte
	for i, proof := range proofs {
		if i > 0 {
			text = append(text, ' ')
		}
		if proof == nil {
			text = append(text, '-')
			continue
		}
		text = append(text, '+')
		for j := range proof {
			text = base64.StdEncoding.AppendEncode(text, proof[j][:])
		}
	}
	return string(text)
}

// encoded is how long a hash is in base64.
const encoded = 44

// ParseProofs reads what Proofs wrote. What can't be read is a proof that can't be had.
func ParseProofs(text string) []Proof {
	if text == "" {
		return nil
	}
	var proofs []Proof
	for _, field := range strings.SplitN(text, " ", MaxSizes) {
		hashes, had := strings.CutPrefix(field, "+")
		if !had || len(hashes)%encoded != 0 || len(hashes) > 2*63*encoded {
			proofs = append(proofs, nil)
			continue
		}
		proof := make(Proof, 0, len(hashes)/encoded)
		for ; hashes != ""; hashes = hashes[encoded:] {
			raw, err := base64.StdEncoding.DecodeString(hashes[:encoded])
			if err != nil || len(raw) != sha256.Size {
				proof = nil
				break
			}
			proof = append(proof, [32]byte(raw))
		}
		proofs = append(proofs, proof)
	}
	return proofs
}

// News is the newest checkpoint that somebody was handed, and what shows that it goes on from the heads held until then.
type News struct {
	Checkpoint []byte
	Held       []Head // as they were before it was asked for; a zero one is none
	Proofs     []Proof
}

// Contradicted returns the first of the heads held with which the news is not shown to be of one log, if there is one.
func (n *News) Contradicted() (held, newest Head, yes bool) {
	newest, readable := ParseHead(n.Checkpoint)
	for i, head := range n.Held {
		if head.Size == 0 {
			continue
		}
		if !readable || i >= len(n.Proofs) || n.Proofs[i] == nil || !head.Agrees(newest, n.Proofs[i]) {
			return head, newest, true
		}
	}
	return Head{}, newest, false
}
