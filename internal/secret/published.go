package secret

import (
	"crypto/sha256"
	"encoding/binary"
)

// published reports whether a value is one that its issuer itself has printed for everybody: a key in its examples, or the key
// of a program that imitates its service. They are listed by the beginning of their SHA-256, so that this file sets off
// nobody's alarm. A key that somebody else published, as by mistake, is none of these: it is a leak.
func published(value string) bool {
	if len(value) < 11 || len(value) > 96 {
		return false
	}
	sum := sha256.Sum256([]byte(value))
	begins := binary.BigEndian.Uint64(sum[:])
	for _, known := range printed {
		if begins == known {
			return true
		}
	}
	return false
}

var printed = [...]uint64{
	// Google's, in the tests and samples of its Firebase packages; gitleaks lists the same ones in its rule of them.
	0xf56e323494a6ffc2, 0x2037abcaffb2b777, 0x3f370c9dd8225c63, 0xe4a5542bb7fd7b67, 0xa19f89ab3555eac1,
	0x0b476bdf9acf2123, 0xeb540d2b6ee2a0a4, 0x37f8f09bdf12c2f2, 0x8731261cb72d8626, 0x49f777db995e8260,
	0x27a9a42931dff7eb, 0xdc0fcf046c61640c, 0x4c98242dcadc8b29, 0xea9bb1082cf95663, 0x3a8b61d0f636b007,
	0xa6c814bc555ae62c,
	// The Kubernetes project's, on the page that explains what a Secret is.
	0xa7b580d711ef2807,
	// Microsoft's, in the reference of NuGet's settings.
	0xa0702bc91d699f60, 0xdba72c00f41f4e4c,
	// Microsoft's, of the programs that stand in for Azure's storage and database on one's own machine.
	0x0011cc25eb432071, 0xaa6547439583c3a2,
}
