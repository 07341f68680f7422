package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"interlock/internal/impact"
	"interlock/internal/impact/know"
	"interlock/internal/ruleset"
	"interlock/internal/strictyaml"
)

// The shipped rules are read from their YAML, so that a change is tested before the embedded form is generated again.
var readShipped = sync.OnceValues(func() (map[string][]byte, error) {
	files := map[string][]byte{}
	root := filepath.Join("..", "..", "rules")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = strictyaml.ToJSON(name, data)
		return err
	})
	return files, err
})

var loadShipped = sync.OnceValues(func() (*ruleset.Ruleset, error) {
	files, err := readShipped()
	if err != nil {
		return nil, err
	}
	return ruleset.Load(files, nil)
})

var loadAnalyser = sync.OnceValues(func() (*impact.Analyser, error) {
	files, err := readShipped()
	if err != nil {
		return nil, err
	}
	know, err := know.Parse(files)
	if err != nil {
		return nil, err
	}
	return impact.NewAnalyser(know), nil
})

type fatal interface{ Fatal(...any) }

func must[T any](t fatal, v T, err error) T {
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func shippedFiles(t fatal) map[string][]byte { v, err := readShipped(); return must(t, v, err) }
func shipped(t fatal) *ruleset.Ruleset       { v, err := loadShipped(); return must(t, v, err) }
func analyser(t fatal) *impact.Analyser      { v, err := loadAnalyser(); return must(t, v, err) }
