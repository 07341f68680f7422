package console

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// A packed is a file as browsers take it that unpack. Only what is the same for everybody is packed: the length of a packed page
// would tell of the secrets in it.
type packed []byte

// packStatic packs the console's own scripts and style.
func packStatic() map[string]packed {
	files := map[string]packed{}
	names, err := fs.Glob(staticFiles, "static/*")
	if err != nil {
		return files // the file server tells what is wrong
	}
	for _, name := range names {
		plain, err := fs.ReadFile(staticFiles, name)
		if err != nil {
			continue
		}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(plain)
		}
		if err == nil && w.Close() == nil {
			files["/"+name] = b.Bytes()
		}
	}
	return files
}

// static serves the console's own script and style.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	file, known := c.files()[r.URL.Path]
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	kind := types[path.Ext(r.URL.Path)]
	if !known || kind == "" || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		http.FileServerFS(staticFiles).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(file) // a reader that went away has nothing to miss
}
