// Package rules holds Interlock's defaults as data: the rules and profiles that judge actions (layers, profiles/), what is
// known of commands (commands/), of paths (paths.yaml), of tools (tools.yaml) and of the words of prose (prose.yaml). The YAML
// is the source people read and edit; defaults.json holds the same documents as JSON, so that a start-up measured in
// milliseconds parses no YAML. It is generated, and a test proves it fresh. This package holds the data and gives it no
// meaning.
package rules

import (
	"bytes"
	_ "embed"
	"strings"
)

//go:generate go test -run "TestDefaultsAreFresh|TestTagsPageIsFresh" -count=1 . -update
//go:generate go test -run TestLiteralsAreFresh -count=1 ../internal/ruleset -update

// defaults is a JSON object with two elements per document, under its path below this directory: what names its content,
// and the document in compact form. Each document is between a line that ends in a comma and one that begins with a
// bracket; of command tables, each command is on a line of its own, so that it is found without reading the others.
//
//go:embed defaults.json
var defaults []byte

// Defaults returns every default document as JSON, by its path below this directory ("commands/git.yaml"). The caller
// must not change the bytes.
func Defaults() map[string][]byte {
	documents := make(map[string][]byte, 256)
	each(defaults, func(name, _ string, document []byte) { documents[name] = document })
	return documents
}

// Sums returns the digest of every default document, by the same paths. What is summed is said where it is checked:
// package ruleset.
func Sums() map[string]string {
	sums := make(map[string]string, 256)
	each(defaults, func(name, sum string, _ []byte) { sums[name] = sum })
	return sums
}

func each(bundle []byte, visit func(name, sum string, document []byte)) {
	for rest := bundle; ; {
		var header, document []byte
		_, rest, _ = bytes.Cut(rest, []byte("\n")) // the brace, or the bracket that ended a document
		header, rest, _ = bytes.Cut(rest, []byte(",\n"))
		document, rest, _ = bytes.Cut(rest, []byte("\n]"))
		name, sum, ok := strings.Cut(strings.Trim(string(header), `"`), `":["`)
		if !ok {
			return
		}
		visit(name, sum, document)
	}
}
