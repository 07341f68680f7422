package console

// LittleSpace is the room on a disk below which it is worth a word, in bytes: enough for some hundred thousand decisions.
const LittleSpace = 500 << 20

// Little reports whether a disk has so little room that somebody should see to it.
func (s Space) Little() bool { return s.Free < LittleSpace }

// InWords is a number of bytes as people read it.
func InWords(n uint64) string { return bytesInWords(n) }
