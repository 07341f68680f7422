package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The folders of the documents and of the console.
const (
	documents = "../../docs"
	templates = "../../internal/console/templates"
)

// mostPictures bounds what all pictures weigh, which everybody has who clones.
const mostPictures = 8 << 20

// TestEveryPageHasItsPictures: a page of the console without pictures, in any dress, or that the documents don't show, is one that nobody
// has looked at. `make pictures` makes them.
func TestEveryPageHasItsPictures(t *testing.T) {
	shown := map[string]bool{"layout.html": true, "parts.html": true} // which are of every page
	text, err := os.ReadFile(filepath.Join(documents, "console.md"))
	if err != nil {
		t.Fatal(err)
	}
	weight, named := int64(0), map[string]bool{}
	for _, p := range pages(played{}) {
		shown[p.template] = true
		if _, err := os.Stat(filepath.Join(templates, p.template)); err != nil {
			t.Errorf("%s is of a page that the console does not have: %v", p.name, err)
		}
		for _, d := range dresses() {
			file := p.name + d.name + ".png"
			named[file] = true
			info, err := os.Stat(filepath.Join(documents, "pictures", file))
			if err != nil {
				t.Errorf("the page %q has no picture %s; make pictures", p.title, file)
				continue
			}
			weight += info.Size()
		}
	}
	if !strings.HasSuffix(string(text), list(pages(played{}))) {
		t.Error("docs/console.md does not end with the list of all pages; make pictures")
	}
	if weight > mostPictures {
		t.Errorf("the pictures weigh %d bytes", weight)
	}
	made, err := filepath.Glob(filepath.Join(templates, "*.html"))
	if err != nil || len(made) == 0 {
		t.Fatal(err)
	}
	for _, file := range made {
		if !shown[filepath.Base(file)] {
			t.Errorf("the page of %s is in no picture; add it to pages in bench/screens/pages.go", filepath.Base(file))
		}
	}
	there, err := filepath.Glob(filepath.Join(documents, "pictures", "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		if !named[filepath.Base(file)] {
			t.Errorf("%s is of no page any more", file)
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
