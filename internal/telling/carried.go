package telling

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"interlock/internal/lex"
	"interlock/internal/rpc"
)

// maxPlainBlob is how long bytes may be that are looked at as they are written, because they are no text and no known kind of data.
const maxPlainBlob = 1 << 10

// carried is a text that is carried as bytes, in base64. It reports false where the member is to be looked at as it is written: it holds
// no bytes, as its name says, or few that nobody knows.
func (v *Value) carried(object []byte, name string, value []byte, in place) bool {
	kind := rpc.Unquoted(rpc.Member(object, "type"))
	if name == "data" && kind != "image" && kind != "audio" {
		return false
	}
	encoded := rpc.Unquoted(value)
	if strings.IndexFunc(encoded, notBase64) >= 0 {
		return false
	}
	text := textOf(encoded, textual(rpc.Unquoted(rpc.Member(object, "mimeType"))))
	if text == "" {
		if len(encoded) <= maxPlainBlob && !known(encoded) {
			return false
		}
		v.write(value)
		return true
	}
	if shown, cut := v.take(piece{text: text, run: runBlocks, chunk: in.chunk}); cut {
		v.out = rpc.AppendString(v.out, base64.StdEncoding.EncodeToString([]byte(shown)))
		return true
	}
	v.write(value)
	return true
}

func notBase64(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("+/=-_\r\n", c))
}

// known reports bytes of a kind that is known by how it begins, as pictures are.
func known(encoded string) bool {
	head, err := lex.DecodeBase64(encoded[:min(len(encoded), 512)&^3])
	kind := http.DetectContentType(head)
	return err == nil && kind != "application/octet-stream" && !strings.HasPrefix(kind, "text/")
}

// textual reports a media type whose bytes are text.
func textual(media string) bool {
	media = strings.ToLower(media)
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, kind := range []string{"json", "xml", "yaml", "javascript", "html", "csv", "toml", "sql", "markdown", "form-urlencoded", "pem", "x-sh"} {
		if strings.Contains(media, kind) {
			return true
		}
	}
	return false
}

// textOf is the text that base64 carries, or nothing. Bytes of a type that is not said to be text are looked at as far as they may be one.
func textOf(encoded string, said bool) string {
	if !said {
		head, err := lex.DecodeBase64(encoded[:min(len(encoded), 88)&^3])
		if err != nil || !lex.Textual(head) {
			return ""
		}
	}
	plain, err := lex.DecodeBase64(encoded)
	if err != nil {
		return ""
	}
	text := lex.PlainText(plain)
	if text == "" && said {
		if utf8.Valid(plain) {
			return string(plain)
		}
		runes := make([]rune, len(plain)) // Latin-1, which gives every byte a character
		for i, c := range plain {
			runes[i] = rune(c)
		}
		text = string(runes)
	}
	return text
}
