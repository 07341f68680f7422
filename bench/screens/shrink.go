package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// colours is how many a picture keeps: pages have few, and the steps between them at the edge of letters.
const colours = 96

// shrink writes a picture with few colours, each the middle of a box of similar ones.
func shrink(picture image.Image) ([]byte, error) {
	counts := map[color.RGBA]int{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(picture, x, y)]++
		}
	}
	all := make([]weighed, 0, len(counts))
	for c, n := range counts {
		all = append(all, weighed{c, n})
	}
	slices.SortFunc(all, func(a, b weighed) int { // one order, so that equal pages make equal pictures
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.of(0), b.of(0)), cmp.Compare(a.of(1), b.of(1)), cmp.Compare(a.of(2), b.of(2)))
	})
	var palette color.Palette
	index := map[color.RGBA]uint8{}
	for _, box := range boxes(all) {
		for _, c := range box {
			index[c.RGBA] = uint8(len(palette))
		}
		palette = append(palette, middle(box))
	}
	flat := image.NewPaletted(image.Rect(0, 0, bounds.Dx(), bounds.Dy()), palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			flat.SetColorIndex(x, y, index[at(picture, bounds.Min.X+x, bounds.Min.Y+y)])
		}
	}
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, flat)
	return b.Bytes(), err
}

func at(picture image.Image, x, y int) color.RGBA {
	r, g, b, _ := picture.At(x, y).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
}

// A weighed is a colour and how many points have it.
type weighed struct {
	color.RGBA
	n int
}

func (w weighed) of(channel int) uint8 { return [3]uint8{w.R, w.G, w.B}[channel] }

// boxes parts colours into boxes. Those that most points have keep a box of their own, so that grounds and lines stay what they are; the
// rest is halved where it spreads most.
func boxes(all []weighed) [][]weighed {
	exact := min(len(all), colours/3)
	var list [][]weighed
	for _, c := range all[:exact] {
		list = append(list, []weighed{c})
	}
	if exact == len(all) {
		return list
	}
	list = append(list, all[exact:])
	for len(list) < colours {
		widest, channel, width := -1, 0, 0
		for i, box := range list {
			for c := range 3 {
				if w := spread(box, c); w > width {
					widest, channel, width = i, c, w
				}
			}
		}
		if widest < 0 {
			break
		}
		box := list[widest]
		slices.SortStableFunc(box, func(a, b weighed) int { return cmp.Compare(a.of(channel), b.of(channel)) })
		low, high := box[0].of(channel), box[len(box)-1].of(channel)
		cut := slices.IndexFunc(box, func(c weighed) bool { return c.of(channel) > uint8((int(low)+int(high))/2) })
		list[widest] = box[:cut]
		list = append(list, box[cut:])
	}
	return list
}

func spread(box []weighed, channel int) int {
	low, high := uint8(255), uint8(0)
	for _, c := range box {
		low, high = min(low, c.of(channel)), max(high, c.of(channel))
	}
	return int(high) - int(low)
}

// middle is the mean of a box's points.
func middle(box []weighed) color.RGBA {
	var sum [3]int
	n := 0
	for _, c := range box {
		for channel := range 3 {
			sum[channel] += int(c.of(channel)) * c.n
		}
		n += c.n
	}
	return color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255}
}
