package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// The folders of the documents and of the console.
const (
	documents = "../../docs"
	templates = "../../internal/console/templates"
)

// mostPictures bounds the size of all pictures together, which every clone has.
const mostPictures = 1 << 20

// TestEveryPageIsLookedAt: each page of the console is loaded by `make pictures` and each picture is shown by a document, and the
// other way round.
func TestEveryPageIsLookedAt(t *testing.T) {
	looked := map[string]bool{"layout.html": true, "parts.html": true} // parts of every page
	can := map[string]bool{}
	for _, p := range pages(played{}) {
		looked[p.template] = true
		if _, err := os.Stat(filepath.Join(templates, p.template)); err != nil {
			t.Errorf("%s is of a page that the console does not have: %v", p.name, err)
		}
		for _, d := range dresses() {
			can[p.name+d.name+".png"] = true
		}
	}
	made, err := filepath.Glob(filepath.Join(templates, "*.html"))
	if err != nil || len(made) == 0 {
		t.Fatal(err)
	}
	for _, file := range made {
		if !looked[filepath.Base(file)] {
			t.Errorf("the page of %s is not looked at; add it to pages in bench/screens/pages.go", filepath.Base(file))
		}
	}
	wanted, err := shown(documents)
	if err != nil || len(wanted) < 3 {
		t.Fatalf("the documents show %d pictures: %v", len(wanted), err)
	}
	weight := int64(0)
	for file := range wanted {
		info, err := os.Stat(filepath.Join(documents, "pictures", file))
		if err != nil || !can[file] {
			t.Errorf("a document shows %s, which is no picture of a page: %v; make pictures", file, err)
			continue
		}
		weight += info.Size()
	}
	if weight > mostPictures {
		t.Errorf("the pictures weigh %d bytes", weight)
	}
	there, err := os.ReadDir(filepath.Join(documents, "pictures"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		if !wanted[file.Name()] {
			t.Errorf("no document shows the picture %s", file.Name())
		}
	}
}

// TestShrink: colours that most points have stay what they are, the others come close, and few colours are kept.
func TestShrink(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			c := color.RGBA{250, 250, 251, 255}
			if y > 32 {
				c = color.RGBA{uint8(4 * x), uint8(4 * y), 90, 255}
			}
			picture.Set(x, y, c)
		}
	}
	small, err := shrink(picture)
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if flat, ok := got.(*image.Paletted); !ok || len(flat.Palette) > colours {
		t.Errorf("%T", got)
	}
	for y := range 64 {
		for x := range 64 {
			is, want := at(got, x, y), at(picture, x, y)
			far := max(int(is.R)-int(want.R), int(want.R)-int(is.R), int(is.G)-int(want.G), int(want.G)-int(is.G))
			if far > 32 || y <= 32 && is != want {
				t.Fatalf("at %d, %d it is %v instead of %v", x, y, is, want)
			}
		}
	}
}
