package gitwork

import (
	"compress/zlib"
	"io"
	"path/filepath"
	"strings"

	"interlock/internal/fileio"
)

// headTree returns the id of the tree of the last commit, "" where that takes more than reading one small file: a commit that
// was packed is not looked for.
func headTree(dir, common string) string {
	text, err := read(filepath.Join(dir, "HEAD"), 4096)
	if err != nil {
		return ""
	}
	id := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(id, "ref: "); ok {
		id = refOf(common, ref)
	}
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	file, err := fileio.Open(filepath.Join(common, "objects", id[:2], id[2:]))
	if err != nil {
		return ""
	}
	defer file.Close()
	inflated, err := zlib.NewReader(io.LimitReader(file, 1<<16))
	if err != nil {
		return ""
	}
	begin := make([]byte, 128)
	n, _ := io.ReadFull(inflated, begin)
	head, rest, ok := strings.Cut(string(begin[:n]), "\x00")
	tree, ok2 := strings.CutPrefix(rest, "tree ")
	if !ok || !ok2 || !strings.HasPrefix(head, "commit ") || len(tree) < 40 {
		return ""
	}
	return tree[:40]
}

// refOf returns the commit a branch is at.
func refOf(common, ref string) string {
	if !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
		return ""
	}
	if text, err := read(filepath.Join(common, filepath.FromSlash(ref)), 4096); err == nil {
		return strings.TrimSpace(string(text))
	}
	packed, err := read(filepath.Join(common, "packed-refs"), 4<<20)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return id
		}
	}
	return ""
}
