package modality

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf16"
)

// pixels are what no part of this package sees.
const pixels = "the picture itself, which may show text"

func malformed(at, why string) *Report { return &Report{Rule: RuleMalformed, At: at, Why: why} }

// inflate unpacks what is packed, as far as there is room left. whole says that it was all of it.
func (f *found) inflate(packed []byte) (text []byte, whole bool) {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false
	}
	text, err = io.ReadAll(io.LimitReader(r, int64(f.left)+1))
	if len(text) > f.left {
		f.left = 0
		return nil, false
	}
	f.left -= len(text)
	return text, err == nil
}

// png walks through the chunks of a PNG file: its texts are tEXt, zTXt, iTXt, eXIf and whatever else is not the picture.
func (f *found) png(data []byte) *Report {
	rest, first := data[8:], true
	for {
		if len(rest) < 12 {
			return malformed("", "ends in the middle")
		}
		long, kind := binary.BigEndian.Uint32(rest), string(rest[4:8])
		if uint64(long)+12 > uint64(len(rest)) {
			return malformed("", "has a part that is longer than what is there")
		}
		body := rest[8 : 8+long]
		if crc32.ChecksumIEEE(rest[4:8+long]) != binary.BigEndian.Uint32(rest[8+long:]) {
			return malformed(place(kind), "has a part whose checksum is wrong")
		}
		rest = rest[12+long:]
		if first != (kind == "IHDR") {
			return malformed("", "does not begin with its header")
		}
		first = false
		switch kind {
		case "IHDR", "PLTE", "IDAT", "tRNS", "gAMA", "cHRM", "sRGB", "bKGD", "pHYs", "sBIT", "hIST", "tIME", "acTL", "fcTL", "fdAT":
		case "IEND":
			if len(rest) > 0 {
				f.behind(rest)
			}
			f.leave(pixels)
			return nil
		case "tEXt":
			f.add("tEXt", latin(bytes.ReplaceAll(body, []byte{0}, []byte{'\n'})))
		case "zTXt":
			key, packed, _ := bytes.Cut(body, []byte{0})
			f.add("zTXt", latin(key))
			f.packed("zTXt", after(packed, 1))
		case "iTXt":
			f.international(body)
		case "iCCP":
			label, packed, _ := bytes.Cut(body, []byte{0})
			f.add("iCCP", latin(label))
			f.packed("iCCP", after(packed, 1))
		case "eXIf":
			f.exif("eXIf", body)
		default:
			f.leave("a part of the image that is of no known kind")
			f.hidden(place(kind), body)
		}
	}
}

// place is the name of a part as it may be told.
func place(kind string) string {
	if strings.ContainsFunc(kind, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') }) {
		return "unknown"
	}
	return kind
}

func after(b []byte, n int) []byte { return b[min(n, len(b)):] }

// packed looks at a text that is compressed; one that can't be unpacked is not looked at.
func (f *found) packed(at string, body []byte) {
	text, whole := f.inflate(body)
	if !whole {
		f.leave("a compressed text")
	}
	f.hidden(at, text)
}

// international looks at a text of a PNG in UTF-8, which may be compressed.
func (f *found) international(body []byte) {
	key, rest, _ := bytes.Cut(body, []byte{0})
	if len(rest) < 2 {
		f.add("iTXt", latin(body))
		return
	}
	compressed, text := rest[0] != 0, rest[2:]
	language, text, _ := bytes.Cut(text, []byte{0})
	translated, text, _ := bytes.Cut(text, []byte{0})
	f.add("iTXt", latin(key)+"\n"+latin(language)+"\n"+latin(translated))
	if compressed {
		f.packed("iTXt", text)
		return
	}
	f.add("iTXt", latin(text))
}

// behind looks at what comes after the end of an image.
func (f *found) behind(rest []byte) {
	f.leave("what stands behind the end of the image")
	f.hidden("behind the end", rest)
}

// hidden looks at bytes that may hold text of any encoding.
func (f *found) hidden(at string, body []byte) {
	if len(body) == 0 {
		return
	}
	f.add(at, latin(body))
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		units := make([]uint16, 0, len(body)/2)
		zeros := 0
		for i := 0; i+1 < len(body); i += 2 {
			unit := order.Uint16(body[i:])
			if unit < 0x80 && unit > 0 {
				zeros++
			}
			units = append(units, unit)
		}
		if zeros > 8 { // some of it is text of two bytes a letter
			f.add(at, string(utf16.Decode(units)))
		}
	}
}

// exif looks at what a camera, or anybody, has written of a picture. Its texts stand at places that its tables name; they are looked
// at without the tables, which may lie. The label in front of comments is taken out.
func (f *found) exif(at string, body []byte) {
	for _, label := range []string{"ASCII\x00\x00\x00", "UNICODE\x00"} {
		body = bytes.ReplaceAll(body, []byte(label), []byte("\n\n\n\n\n\n\n\n")[:len(label)])
	}
	f.hidden(at, body)
	for part := range bytes.SplitSeq(body, []byte{0}) {
		if len(part) >= 8 {
			f.add(at, latin(part))
		}
	}
}

// jpeg walks through the segments of a JPEG file: comments, EXIF, XMP, IPTC and other applications' are text.
func (f *found) jpeg(data []byte) *Report {
	rest := data[2:]
	for {
		for len(rest) > 1 && rest[0] == 0xff && rest[1] == 0xff { // filling
			rest = rest[1:]
		}
		if len(rest) < 2 || rest[0] != 0xff {
			return malformed("", "has no segment where one has to be")
		}
		marker := rest[1]
		rest = rest[2:]
		switch {
		case marker == 0xd9:
			if len(rest) > 0 {
				f.behind(rest)
			}
			f.leave(pixels)
			return nil
		case marker >= 0xd0 && marker <= 0xd7, marker == 0x01:
			continue
		}
		if len(rest) < 2 {
			return malformed("", "ends in the middle")
		}
		long := int(binary.BigEndian.Uint16(rest))
		if long < 2 || long > len(rest) {
			return malformed("", "has a segment that is longer than what is there")
		}
		body := rest[2:long]
		rest = rest[long:]
		switch {
		case marker == 0xfe:
			f.hidden("comment", body)
		case marker == 0xe1:
			f.exif("APP1", body)
		case marker >= 0xe0 && marker <= 0xef:
			f.hidden("APP"+string("0123456789abcdef"[marker-0xe0]), body)
		case marker == 0xda:
			if rest = scanned(rest); rest == nil {
				return malformed("", "ends in the middle")
			}
		}
	}
}

// scanned skips the picture's data: up to the next marker that does not belong to it.
func scanned(rest []byte) []byte {
	for i := 0; i+1 < len(rest); i++ {
		if next := rest[i+1]; rest[i] == 0xff && next != 0 && next != 0xff && (next < 0xd0 || next > 0xd7) {
			return rest[i:]
		}
	}
	return nil
}

// gif walks through the blocks of a GIF file: comments, plain texts and applications' blocks are text.
func (f *found) gif(data []byte) *Report {
	if len(data) < 13 {
		return malformed("", "ends in the middle")
	}
	rest := data[13:]
	if rest = table(rest, data[10]); rest == nil {
		return malformed("", "ends in the middle")
	}
	for {
		if len(rest) < 1 {
			return malformed("", "has no end")
		}
		kind := rest[0]
		rest = rest[1:]
		switch kind {
		case 0x3b:
			if len(rest) > 0 {
				f.behind(rest)
			}
			f.leave(pixels)
			return nil
		case 0x2c:
			if len(rest) < 9 {
				return malformed("", "ends in the middle")
			}
			if rest = table(rest[9:], rest[8]); len(rest) < 1 {
				return malformed("", "ends in the middle")
			}
			if _, rest = blocks(rest[1:]); rest == nil {
				return malformed("", "ends in the middle")
			}
		case 0x21:
			if len(rest) < 1 {
				return malformed("", "ends in the middle")
			}
			label := rest[0]
			var body []byte
			if body, rest = blocks(rest[1:]); rest == nil {
				return malformed("", "ends in the middle")
			}
			if label != 0xf9 { // how long a picture is shown
				f.hidden("extension", body)
			}
		default:
			return malformed("", "has a block of no known kind")
		}
	}
}

// table skips a table of colours.
func table(rest []byte, flags byte) []byte {
	if flags&0x80 == 0 {
		return rest
	}
	long := 3 << (flags&7 + 1)
	if long > len(rest) {
		return nil
	}
	return rest[long:]
}

// blocks joins what is in short blocks, up to the empty one that ends them.
func blocks(rest []byte) (body, behind []byte) {
	for len(rest) > 0 {
		long := int(rest[0])
		if long == 0 {
			return body, rest[1:]
		}
		if long+1 > len(rest) {
			return nil, nil
		}
		body, rest = append(body, rest[1:long+1]...), rest[long+1:]
	}
	return nil, nil
}
