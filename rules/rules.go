// Package rules holds Interlock's defaults as data: the rules and profiles that judge actions (layers, profiles/), what is
// known of commands (commands/), of paths (paths.yaml) and of tools (tools.yaml). The YAML is the source people read and
// edit; defaults.json holds the same documents as JSON, so that a start-up measured in milliseconds parses no YAML. It is
// generated, and a test proves it fresh. This package holds the data and gives it no meaning.
package rules

import (
	"bytes"
	_ "embed"
)

//go:generate go test -run "TestDefaultsAreFresh|TestTagsPageIsFresh" -count=1 . -update

// defaults has one line per document: its path as a JSON string, a colon, the document in compact form.
//
//go:embed defaults.json
var defaults []byte

// Defaults returns every default document as JSON, by its path below this directory ("commands/git.yaml"). The caller
// must not change the bytes.
func Defaults() map[string][]byte {
	documents := make(map[string][]byte, 64)
	for rest := defaults; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte(","))
		name, document, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) < 2 {
			continue // the braces around
		}
		documents[string(name[1:len(name)-1])] = document
	}
	return documents
}
